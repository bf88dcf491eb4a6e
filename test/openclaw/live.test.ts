/**
 * Third-party plugins in a real OpenClaw gateway: native, moved into the sandbox while it runs, and moved back. All tests share one gateway
 * and build on each other, because a start takes ten seconds on a quiet machine. They are in live/; their titles are the rows
 * of docs/reference/openclaw-live.md. OpenClaw is installed on demand; see support/openclaw-package.ts.
 *
 * Ten pins, in the titles here and in surface.test.ts, say what Creel relies on. A new OpenClaw that breaks one shows which:
 * 1 the fields of events and contexts · 2 the names of hooks, internal events and `api` members · 3 block, rewrite, approval, refusal,
 * redaction, tool, command and method · 4 kitchen-sink moved, with no event that is not valid · 5 the gate is shut at every moment of a
 * reload, an edit, a restart and `kill -9`; one host, no sandbox left · 6 a missing bridge file blocks · 7 a loop of patches ends, and
 * hostile hooks leave the gateway answering · 8 a shim loads within 100 ms · 9 a path in the configuration overrides an installed plugin ·
 * 10 the index of plugins, the install policy's protocol 1, the gateway's protocol 4 for a backend without a device
 */
// runs: creel openclaw plan
// runs: creel openclaw move guard
// runs: creel openclaw move guard --dry-run
// runs: creel openclaw status
// runs: creel openclaw doctor
// runs: creel openclaw back guard
// runs: exec creel openclaw policy
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe } from "vitest";
import { answers } from "./live/answers.ts";
import { hostile } from "./live/hostile.ts";
import { lifecycle } from "./live/lifecycle.ts";
import { moves } from "./live/moves.ts";
import { returns } from "./live/returns.ts";
import { LONG } from "./support/gateway.ts";
import { LiveScene } from "./support/live-scene.ts";
import { openclawEntry } from "./support/openclaw-package.ts";

const entry = openclawEntry();

describe.skipIf(entry === undefined)("a real OpenClaw gateway", { timeout: 2 * LONG }, () => {
  let scene: LiveScene;
  beforeAll(async () => {
    if (entry === undefined) return;
    scene = new LiveScene(entry);
    await scene.start();
  }, 2 * LONG);

  afterAll(async () => {
    await scene?.close();
    const { OPENCLAW_LOG } = process.env;
    if (OPENCLAW_LOG !== undefined && scene) writeFileSync(OPENCLAW_LOG, scene.gateway.log);
  });

  for (const part of [moves, answers, lifecycle, hostile, returns]) part(() => scene);
});

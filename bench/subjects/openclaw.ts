/** In the caller's process, no sandbox: a handler on OpenClaw's own hook runner, from its npm package, through what it exports to plugins. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import { installed } from "./absent.ts";
import { plain } from "./plain.ts";
import type { Handler } from "./plain.ts";

interface Registry {
  readonly hooks: [];
  readonly plugins: [];
  readonly typedHooks: { pluginId: string; hookName: string; priority: number; source: string; handler: Handler }[];
}
interface Runner {
  runBeforeToolCall(event: object, context: object): Promise<unknown>;
}

export async function openclaw(work: Work): Promise<Contestant> {
  if (work.hook !== "before_tool_call") throw new Error("only the gate is run on OpenClaw's runner");
  // Whatever it may want to write does not belong into the home of whoever runs the bench.
  const state = await mkdtemp(join(tmpdir(), "creel-bench-"));
  process.env["OPENCLAW_STATE_DIR"] = state;
  const { initializeGlobalHookRunner } = await installed<{ initializeGlobalHookRunner: (registry: Registry) => void }>(
    "openclaw/plugin-sdk/hook-runtime",
  );
  const { getGlobalHookRunner } = await installed<{ getGlobalHookRunner: () => Runner }>("openclaw/plugin-sdk/plugin-runtime");
  const handler = plain(work.handler);
  initializeGlobalHookRunner({
    hooks: [],
    plugins: [],
    typedHooks: [{ pluginId: "bench", hookName: work.hook, priority: 0, source: "bench", handler }],
  });
  const runner = getGlobalHookRunner();
  return contestant(
    "openclaw's hook runner, no sandbox",
    (at) => runner.runBeforeToolCall(eventAt(work, at), work.context),
    () => rm(state, { recursive: true, force: true }),
  );
}

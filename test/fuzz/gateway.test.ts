/**
 * A whole gateway whose sandbox is played by the fuzzer: it answers as a lane does, and says damaged frames in between. Every run comes to an outcome
 * that its type allows, nothing is thrown into the gateway's loop, and the next run is served.
 */
import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import type { Frame } from "../../src/transport/frames.ts";
import { pack, unpack } from "../../src/transport/frames.ts";
import { writeReply } from "../../src/transport/call-frames.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { folder } from "../support/files.ts";
import { plugin, silent } from "../support/host.ts";
import { PlayedLink } from "../support/lane.ts";
import { PlayedUnit } from "../support/unit.ts";
import { demand, fuzz, fuzzing } from "./fuzz.ts";
import { bent, damaged } from "./mutations.ts";
import { laneFrames } from "./samples.ts";

const HOOKS = ["before_tool_call", "message_sending", "tool_result_persist"];
const REGISTRATION = JSON.stringify({ handlers: HOOKS.map((hook) => ({ hook, options: {} })) });

/** What the lane says about the next run: frames before the answer, and the answer. Empty: as a good lane does. */
let script: { frames: readonly string[]; body: string | undefined } = { frames: [], body: undefined };

class FuzzedLink extends PlayedLink {
  override send(frames: readonly Frame[]): void {
    for (const frame of frames) queueMicrotask(() => this.#answer(typeof frame === "string" ? frame : frame.join("")));
  }

  #answer(frame: string): void {
    if (frame.startsWith("R")) return this.#reply(Number(/^R(\d+)/.exec(frame)![1]));
    if (!frame.startsWith("{")) return;
    const { kind, cell } = unpack(frame).header as { kind: string; cell: number };
    if (kind === "hello") this.ready();
    if (kind === "open") this.say(pack({ kind: "opened", cell, ok: true, loadMs: 1 }, REGISTRATION));
  }

  #reply(run: number): void {
    const { frames, body = "" } = script;
    script = { frames: [], body: undefined };
    const known = frames.map((text) => text.replace(/^A\d+/, `A${run}`));
    this.say(...known, writeReply(run, true, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body }]));
  }
}

class FuzzedUnit extends PlayedUnit {
  override readonly links = [new FuzzedLink()];
}

vi.mock("../../src/host/supervisor/launch/thread-unit.ts", () => ({ threadUnits: async () => () => new FuzzedUnit(1) }));

let host: Host;
beforeAll(async () => {
  // A sandbox that keeps dying is started ever more slowly; here that is all it does.
  Object.assign(LIMITS.sandbox, { restartBackoffMaxMs: 0 });
  host = await openHost({
    isolation: "thread",
    lanes: 1,
    logger: silent,
    config: { stateDir: folder({}) },
    plugins: [
      plugin("played", "", { grants: { kv: true, session: ["get", "patch"], schedule: true, fs: true, fetch: ["https://x.example"] } }),
    ],
    gateway: { getSession: async () => ({ a: 1 }), patchSession: async () => ({ sessionEntry: {} }), requestApproval: async () => "deny" },
  });
});
afterAll(() => host.close());
beforeEach(() => void (script = { frames: [], body: undefined }));

const RESULTS = [
  {
    params: { n: 1 },
    block: false,
    blockReason: "no",
    requireApproval: { title: "ok?", description: "", severity: "info", onResolution: 3 },
  },
  { content: "x", cancel: false, cancelReason: "y", metadata: { a: 1 } },
  { message: { role: "toolResult", content: [{ type: "text", text: "x" }] } },
  null,
];
// Cells are numbered from 0 or 1 on, and move: some are meant, some are not.
const FRAMES = [0, 1, 2].flatMap((cell) => laneFrames(1, cell)).filter((frame) => !frame.includes('"ready"'));
const scene = fc.record({
  hook: fc.constantFrom("before_tool_call" as const, "message_sending" as const),
  frames: fc.array(damaged(FRAMES, 2), { maxLength: 4 }),
  body: fc.oneof(
    bent(RESULTS).map((value) => JSON.stringify(value) ?? ""),
    damaged(RESULTS.map((value) => JSON.stringify(value))),
  ),
});

const DECISIONS = ["pass", "block", "cancel"];
const STATUSES = ["ok", "skipped", "failed", "timeout", "cpu", "memory", "crashed", "recursion", "quarantined"];

it("whatever the sandbox says, a run comes to an outcome of its type, and the next run is served", fuzzing("gateway"), async () => {
  const cases = await fuzz("gateway", scene, async ({ hook, frames, body }) => {
    await host.release("played");
    script = { frames, body };
    const outcome =
      hook === "before_tool_call"
        ? await host.run(hook, { toolName: "exec", params: { n: 1 } })
        : await host.run(hook, { to: "me", content: "x" }, { channelId: "chat" });
    expect(DECISIONS).toContain(outcome.decision);
    for (const { plugin: id, status, error } of outcome.calls) {
      expect(id).toBe("played");
      expect(STATUSES).toContain(status);
      demand(error === undefined || error.code.startsWith("ERR_"), "an error has a code of ours");
    }
    const { params } = (outcome.result ?? {}) as { params?: unknown };
    demand(params === undefined || (typeof params === "object" && params !== null && !Array.isArray(params)), "parameters are an object");
    // A lane that broke the protocol is replaced, and its plugin is loaded again: it must answer.
    await host.release("played");
    script = { frames: [], body: undefined };
    const next = await host.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" });
    expect(next.decision).toBe("pass");
  });
  expect(cases).toBeGreaterThan(0);
});

/** The walk in docs/architecture.md against what V8 counts: what a call executes is drawn or named as a helper, and nothing else is. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { drawingsOf } from "./drawings.ts";

/** What the trace cannot see: the link of process isolation, and what runs inside an isolate. */
const UNSEEN = new Set([
  "src/transport/socket-link.ts",
  "src/transport/shm-channel.ts",
  "src/sandbox/guest/boot/entries.ts",
  "src/sandbox/guest/turn/mailbox.ts",
]);

const { steps, helpers } = drawingsOf(readFileSync(new URL("../../../docs/architecture.md", import.meta.url), "utf8"));

// Elsewhere there is no CPU clock of a thread, and so no stopper.
describe.skipIf(process.platform !== "linux")("one before_tool_call", () => {
  let traced: { readonly lanes: number; readonly always: readonly string[]; readonly any: readonly string[] };
  beforeAll(async () => {
    const script = new URL("./trace.ts", import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, ["-C", "source", script], { timeout: 60_000 });
    traced = JSON.parse(stdout) as typeof traced;
  }, 60_000);

  it("executes only files that the page draws or names as helpers", () => {
    expect([traced.lanes, traced.always.includes("src/sandbox/lane/hop.ts")]).toEqual([1, true]);
    const known = new Set([...steps, ...helpers]);
    expect(traced.always.filter((file) => !known.has(file))).toEqual([]);
  });

  it("executes every file that the page draws or names, but for those that cannot be seen", () => {
    const executed = new Set(traced.any);
    expect([...new Set([...steps, ...helpers])].filter((file) => !executed.has(file) && !UNSEEN.has(file))).toEqual([]);
  });
});

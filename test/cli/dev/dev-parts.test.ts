/** The parts of `creel dev`: what is different, code frames, fixtures, keys, banner. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { changesOf, differencePage } from "../../../src/cli/dev/difference.ts";
import { readFixtures, saveFixture } from "../../../src/cli/dev/fixtures.ts";
import { Keys } from "../../../src/cli/dev/keys.ts";
import { inspectionOf } from "../../../src/cli/inspect/options.ts";
import { codeFrame } from "../../../src/cli/ui/code-frame.ts";
import type { Terminal } from "../../../src/cli/ui/terminal.ts";
import { duration } from "../../../src/cli/ui/text.ts";
import type { Outcome } from "../../../src/protocol/outcome.ts";
import { folder } from "../../support/files.ts";

function page(): Terminal & { text: () => string } {
  const lines: string[] = [];
  return { width: 80, line: (text = "") => void lines.push(text), paint: (_, text) => text, text: () => lines.join("\n") };
}

const outcome = (more: Partial<Outcome>, cpuMs = 0.1): Outcome => ({
  runId: "h-1",
  hook: "before_tool_call",
  decision: "pass",
  result: undefined,
  by: undefined,
  reason: undefined,
  calls: [{ plugin: "x", priority: 0, status: "ok", wallMs: 1, cpuMs }],
  ...more,
});

describe("the difference of two runs", () => {
  it("names decision, result and log lines that changed, and a cost only if it more than doubled", () => {
    const before = { outcome: outcome({}), logs: ["one"] };
    const after = { outcome: outcome({ decision: "block", result: { block: true } }, 0.15), logs: ["two"] };
    expect(changesOf(before, after).map(({ what }) => what)).toEqual(["decision", "result", "log"]);
    expect(changesOf(before, before)).toEqual([]);
    expect(changesOf(before, { ...before, outcome: outcome({}, 5) })).toMatchObject([{ what: "cpu" }]);
    const shown = page();
    differencePage(before, after, shown);
    expect(shown.text()).toContain("decision - pass\n           + block");
    expect(shown.text()).toContain(`cost     cpu ${duration(0.1)} before, ${duration(0.15)} now`);
  });
});

describe("a code frame", () => {
  const root = folder({ "index.ts": "const a = 1;\nconst b = oops;\nconst c = 3;\n" });
  it("shows the line and its column", async () => {
    const shown = page();
    await codeFrame(root, "index.ts:2:11", shown);
    expect(shown.text()).toContain("▶ 2 │ const b = oops;");
    expect(
      shown
        .text()
        .split("\n")
        .find((line) => line.endsWith("^")),
    ).toHaveLength("  │     │           ^".length);
  });

  it("shows nothing of files outside of the plugin, or of lines that are not there", async () => {
    const shown = page();
    for (const at of ["../../../../../../etc/hostname:1:1", "/etc/hostname:1:1", "index.ts:99:1", "nowhere"])
      await codeFrame(root, at, shown);
    expect(shown.text()).toBe("");
  });
});

describe("fixtures", () => {
  it("are saved beside the plugin and read again; those that are not valid are named", async () => {
    const root = folder({ "fixtures/bad.json": "{}", "fixtures/wrong.json": `{ "hook": "nope", "event": {} }` });
    const input = { hook: "before_tool_call", event: { toolName: "exec", params: {} }, ctx: undefined } as const;
    expect(await saveFixture(root, input)).toBe("fixtures/before_tool_call-1.json");
    expect(await saveFixture(root, input)).toBe("fixtures/before_tool_call-2.json");
    expect(existsSync(join(root, "fixtures/before_tool_call-2.json"))).toBe(true);
    const other = folder({});
    for (const number of [1, 2])
      expect(await saveFixture(other, { ...input, hook: "session:patch" })).toBe(`fixtures/session-patch-${number}.json`);
    expect(JSON.parse(readFileSync(join(root, "fixtures/before_tool_call-1.json"), "utf8"))).toMatchObject({ hook: "before_tool_call" });
    const { fixtures, problems } = await readFixtures(root);
    expect(fixtures.map(({ name }) => name)).toEqual(["before_tool_call-1.json", "before_tool_call-2.json"]);
    expect(problems).toEqual([expect.stringContaining("bad.json"), expect.stringContaining('no hook named "nope"')]);
  });
});

describe("keys", () => {
  it("reach the command one by one, q and Ctrl-C end it, and the terminal is given back", () => {
    const modes: boolean[] = [];
    const stream = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
    const pressed: string[] = [];
    const keys = Keys.at(
      stream as never,
      (key) => pressed.push(key),
      () => pressed.push("quit"),
    )!;
    stream.emit("data", Buffer.from("rp"));
    stream.emit("data", Buffer.from("\u0003"));
    keys[Symbol.dispose]();
    stream.emit("data", Buffer.from("r"));
    expect([pressed, modes]).toEqual([
      ["r", "p", "quit"],
      [true, false],
    ]);
  });

  it("are not there without a terminal", () => {
    expect(
      Keys.at(
        new PassThrough() as never,
        () => {},
        () => {},
      ),
    ).toBeUndefined();
  });
});

describe("the debugger's options", () => {
  it("take a port or none, and refuse what is no port", () => {
    expect(inspectionOf({})).toBeUndefined();
    expect(inspectionOf({ inspect: "" })).toEqual({ port: undefined, isBreak: false });
    expect(inspectionOf({ "inspect-brk": "0" })).toEqual({ port: 0, isBreak: true });
    for (const text of ["x", "-1", "65536", "1.5"]) expect(() => inspectionOf({ inspect: text })).toThrow("is not a port");
  });
});

/** The first screen, as a child process: what it shows, to people and to programs, and that it ends by itself. */
import { beforeAll, describe, expect, it } from "vitest";
import type { DemoReport, HookStep } from "../../../../src/cli/demo/step.ts";
import { ANSI, creel } from "../../../support/creel.ts";
import type { Ended } from "../../../support/creel.ts";

describe.each(["process", "thread"])("creel demo, %s isolation, into a pipe", (isolation) => {
  let ended: Ended;
  beforeAll(async () => {
    ended = await creel(["demo", "--isolation", isolation]);
  });

  it("ends by itself with exit code 0 and says nothing on stderr", () => {
    expect(ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("has no colours and no trailing spaces, and keeps to the width of a page", () => {
    expect(ended.stdout).not.toContain(ANSI);
    for (const line of ended.stdout.split("\n")) {
      expect(line).toBe(line.trimEnd());
      expect(line.length).toBeLessThanOrEqual(100);
    }
  });

  it("names each hook of the turn, in the turn's order", () => {
    const hooks = ["message in", "before_prompt_build", "before_tool_call", "tool runs", "session:patch", "message_sending", "reply out"];
    const places = hooks.map((hook) => ended.stdout.search(new RegExp(`^ +\\d+ ms  [▸●] ${hook} `, "m")));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it("shows what each plugin decided: the approval, the observation, the redaction", () => {
    expect(ended.stdout).toMatch(/tool-preflight +asked for the user's approval/);
    expect(ended.stdout).toContain("allow-once, auto-answered for the demo");
    expect(ended.stdout).toMatch(/session-audit +observed/);
    expect(ended.stdout).toMatch(/redact-secrets +set content/);
    expect(ended.stdout).toMatch(/\+ The newest is .*\[redacted: GitHub token\]/);
    expect(ended.stdout).toMatch(/reply out +.*\[redacted: GitHub token\]/);
  });

  it("shows the endless loop stopped by its budget, the call blocked, and others answering", () => {
    expect(ended.stdout).toMatch(/endless-loop +stopped: out of CPU time \[cpu\]/);
    expect(ended.stdout).toMatch(/before_tool_call +block \(by endless-loop\)/);
    expect(ended.stdout).toContain("endless-loop is in the slow lane now");
  });
});

describe("creel demo, colours", () => {
  it("are used when they are forced, terminal or not", async () => {
    const { code, stdout } = await creel(["demo"], { FORCE_COLOR: "1" });
    expect(code).toBe(0);
    expect(stdout).toContain(ANSI);
  });

  it("are not used with NO_COLOR", async () => {
    const { code, stdout } = await creel(["demo"], { NO_COLOR: "1" });
    expect(code).toBe(0);
    expect(stdout).not.toContain(ANSI);
  });
});

describe("creel demo --json", () => {
  let ended: Ended;
  let report: DemoReport;
  const hookOf = (act: "turn" | "loop", hook: string) =>
    report[act].steps.find((step): step is HookStep => step.kind === "hook" && step.hook === hook)!;
  beforeAll(async () => {
    ended = await creel(["demo", "--json"]);
    report = JSON.parse(ended.stdout) as DemoReport;
  });

  it("prints one JSON value on stdout and nothing on stderr", () => {
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(report).toMatchObject({ isolation: "process", isComplete: true, wallMs: expect.any(Number) });
  });

  it("has every plugin, ready", () => {
    const cast = ["tool-preflight", "redact-secrets", "session-audit", "house-rules"];
    expect(report.turn.plugins.map(({ id }) => id)).toEqual(cast);
    expect(report.loop.plugins.map(({ id }) => id)).toEqual([...cast, "endless-loop"]);
    for (const { status } of [...report.turn.plugins, ...report.loop.plugins]) expect(status).toBe("ready");
  });

  it("has the outcome of every hook of the turn", () => {
    expect(hookOf("turn", "before_prompt_build").outcome).toMatchObject({
      decision: "pass",
      result: { appendContext: expect.any(String) },
    });
    expect(hookOf("turn", "before_tool_call")).toMatchObject({
      outcome: { decision: "pass", approval: { pluginId: "tool-preflight", resolution: "allow-once" } },
      approval: { answer: "allow-once", waitedMs: expect.any(Number) },
    });
    expect(hookOf("turn", "tool_result_persist")).toMatchObject({ how: "skipped", outcome: null });
    expect(hookOf("turn", "session:patch")).toMatchObject({ how: "emit", outcome: { calls: [{ plugin: "session-audit", status: "ok" }] } });
    expect(hookOf("turn", "session:patch").logs).toHaveLength(2);
    expect(hookOf("turn", "message_sending").outcome).toMatchObject({
      result: { content: expect.stringContaining("[redacted: GitHub token]") },
    });
  });

  it("has what became of the endless loop", () => {
    expect(hookOf("loop", "before_tool_call").outcome).toMatchObject({
      decision: "block",
      by: "endless-loop",
      calls: [
        { plugin: "tool-preflight", status: "ok" },
        { plugin: "endless-loop", status: "cpu", error: { code: "ERR_CALL_CPU" } },
      ],
    });
    expect(report.loop.replaced).toMatchObject([{ plugin: "endless-loop" }]);
  });
});

/** The real plugin in the real sandbox, fed by the tool bridge: one line per tool that starts, one that says how it ended. */
import { openHost, startToolBridge } from "creel";
import type { AgentEvent, Host } from "creel";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

describe.each(["thread", "process"] as const)("tool-visibility, %s isolation", (isolation) => {
  let host: Host;
  let say: (event: AgentEvent) => void;
  const lines: string[] = [];

  beforeAll(async () => {
    const plugins = [{ path: import.meta.dirname, config: { platform: "discord" } }];
    host = await openHost({ isolation, lanes: 1, plugins, logger: pino({ level: "silent" }) });
    host.on("log", ({ text }) => lines.push(text));
    startToolBridge(host, (listener) => {
      say = listener;
      return () => {};
    });
  });
  afterAll(() => host.close());

  const tool = (phase: string, toolCallId: string, more: object = {}, sessionKey = "agent:main:discord:channel:1") =>
    say({ runId: "r", stream: "tool", sessionKey, data: { phase, name: "exec", toolCallId, ...more } });

  it("loads without diagnostics and listens to the three events", () => {
    const report = host.inspect("tool-visibility");
    expect(report).toMatchObject({ status: "ready", name: "Tool Visibility", diagnostics: [] });
    expect(report.hooks.map(({ hook }) => hook)).toEqual(["tool:start", "tool:update", "tool:result"]);
  });

  it("joins the result to the start it belongs to, however the calls overlap", async () => {
    tool("start", "a");
    tool("start", "b");
    tool("result", "b", { isError: true });
    tool("result", "a", { isError: false });
    await vi.waitFor(() => expect(lines).toHaveLength(4));
    expect(lines.splice(0)).toEqual([
      "⚙️ exec is running (1 active)",
      "⚙️ exec is running (2 active)",
      expect.stringMatching(/^❌ exec after \d+\.\d s \(1 active\)$/),
      expect.stringMatching(/^✅ exec after \d+\.\d s \(0 active\)$/),
    ]);
  });

  it("does not show every update, nor a result without a start, nor another platform", async () => {
    tool("result", "unknown");
    tool("start", "t", {}, "agent:main:telegram:dm:7");
    tool("start", "c");
    for (let update = 0; update < 20; update++) tool("update", "c", { partialResult: `${update}` });
    tool("result", "c");
    await vi.waitFor(() => expect(lines).toHaveLength(2));
    expect(lines.splice(0)).toEqual(["⚙️ exec is running (1 active)", expect.stringContaining("✅ exec")]);
  });

  it("keeps no more than it can show: tools that never end do not fill its memory", async () => {
    // In portions: the host has a limit on log lines, too.
    for (const portion of [0, 1, 2]) {
      for (let call = 0; call < 100; call++) tool("start", `lost-${portion}-${call}`);
      await vi.waitFor(() => expect(lines).toHaveLength((portion + 1) * 100));
    }
    expect(lines.splice(0).at(-1)).toBe("⚙️ exec is running (200 active)");
  });
});

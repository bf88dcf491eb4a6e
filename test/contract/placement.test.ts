/**
 * Placement: plugins that share a sequential hook live in one lane, so that a chain is one trip; independent groups get lanes of their own;
 * an operator's pin wins; a move loses no call.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Host, PluginSpec } from "creel";
import { contract, openUnpinned, plugin } from "../support/host.ts";

const CALL = { toolName: "exec", params: {} };
const CHAT = { channelId: "chat" };
const MESSAGE = { to: "a", content: "" };

/** Appends its id to a parameter, so that the order of the handlers shows. */
function links(id: string, more = ""): PluginSpec {
  const append = `({ params: { trace: (event.params.trace ?? "") + ${JSON.stringify(id)} } })`;
  return plugin(id, `api.on("before_tool_call", (event) => ${append}); ${more}`);
}

function sends(id: string): PluginSpec {
  return plugin(id, `api.on("message_sending", (event) => ({ content: event.content + ${JSON.stringify(id)} }));`);
}

function lanesOf(host: Pick<Host, "inspect">, ...ids: string[]): number[] {
  return [...new Set(ids.map((id) => host.inspect(id).lane))];
}

contract("placement", (isolation) => {
  it("ten plugins on one gate live in one lane of four; order, merge and the terminal rule hold", async () => {
    const ids = "abcdefghij".split("");
    const blocks = plugin("blocker", `api.on("before_tool_call", (event) => event.params.stop && { block: true }, { priority: -1 });`);
    const after = plugin("after", `api.on("before_tool_call", () => ({ params: { reached: true } }), { priority: -2 });`);
    await using host = await openUnpinned(isolation, { lanes: 4, plugins: [...ids.map((id) => links(id)), blocks, after] });
    expect(lanesOf(host, ...ids, "blocker", "after")).toHaveLength(1);
    const passed = await host.run("before_tool_call", CALL);
    expect(passed).toMatchObject({ decision: "pass", result: { params: { trace: "abcdefghij", reached: true } } });
    const blocked = await host.run("before_tool_call", { toolName: "exec", params: { stop: 1 } });
    expect(blocked).toMatchObject({ decision: "block", by: "blocker" });
    expect(blocked.calls.at(-1)).toMatchObject({ plugin: "after", status: "skipped" });
    expect(host.inspect("a").lanePlacement).toBe("shares before_tool_call with b, c, d, e, f and 6 more");
  });

  it("two groups without a common sequential hook get two lanes", async () => {
    const observer = plugin("observer", `api.on("session_start", () => {});`);
    await using host = await openUnpinned(isolation, { lanes: 2, plugins: [links("a"), sends("x"), links("b"), sends("y"), observer] });
    expect(lanesOf(host, "a", "b")).toHaveLength(1);
    expect(lanesOf(host, "x", "y")).toHaveLength(1);
    expect(host.inspect("a").lane).not.toBe(host.inspect("x").lane);
    expect(host.inspect("x").lanePlacement).toBe("shares message_sending with y");
    expect(host.inspect("observer").lanePlacement).toBe("observes only");
    expect((await host.run("message_sending", MESSAGE, CHAT)).result).toMatchObject({ content: "xy" });
  });

  it("a pin wins over the group, and a lane that the host does not have is a diagnostic", async () => {
    const entries = { b: { lane: 2 }, c: { lane: 9 } };
    await using host = await openUnpinned(isolation, {
      lanes: 3,
      plugins: [links("a"), links("b"), links("c")],
      config: { plugins: { entries } },
    });
    expect(host.inspect("b")).toMatchObject({ lane: 2, lanePlacement: "pinned by plugins.entries.b.lane" });
    expect(lanesOf(host, "a", "c")).toEqual([0]);
    expect(host.inspect("c").diagnostics).toEqual(["plugins.entries.c.lane is 9, which has no effect: the last lane of this host is 2"]);
    expect((await host.run("before_tool_call", CALL)).result).toMatchObject({ params: { trace: "abc" } });
  });

  it("a reload that adds a hook joins the groups, and no call in flight is lost", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "test-of-creel-")), "joins.js");
    const write = (body: string) => writeFileSync(path, `export default (api) => { ${body} };`);
    const gate = `api.on("before_tool_call", () => {});`;
    write(gate);
    const slow = plugin(
      "slow",
      `api.on("message_sending", async (event) => {
         await new Promise((resolve) => setTimeout(resolve, 300));
         return { content: event.content + "slow" };
       }, { timeoutMs: 60000 });`,
    );
    await using host = await openUnpinned(isolation, { lanes: 2, plugins: [links("a"), links("b"), slow, { path, id: "joins" }] });
    expect(host.inspect("slow").lane).not.toBe(host.inspect("a").lane);
    const send = () => host.run("message_sending", MESSAGE, CHAT);
    const began = Array.from({ length: 8 }, send);
    write(`${gate} api.on("message_sending", () => {});`);
    const reloading = host.reload("joins");
    const during = Array.from({ length: 8 }, send);
    await reloading;
    expect(lanesOf(host, "a", "b", "slow", "joins")).toHaveLength(1);
    const outcomes = await Promise.all([...began, ...during, send()]);
    for (const { result, calls } of outcomes) {
      expect(result).toMatchObject({ content: "slow" });
      expect(calls.every(({ status }) => status === "ok")).toBe(true);
    }
    expect(host.inspect("slow")).toMatchObject({ status: "ready", replacements: 0, lanePlacement: "shares message_sending with joins" });
  });

  it("a plugin that is slow lives in the slow lane, whatever its group", async () => {
    const loops = plugin("loops", `api.on("before_tool_call", (event) => { if (event.params.loop) for (;;); });`, { hooks: { cpuMs: 60 } });
    await using host = await openUnpinned(isolation, { lanes: 2, plugins: [links("a"), loops] });
    await host.run("before_tool_call", { toolName: "exec", params: { loop: true } });
    expect(host.inspect("loops")).toMatchObject({ lane: 2, isSlow: true });
    expect(host.inspect("loops").lanePlacement).toMatch(/^in the slow lane: /);
    await host.reload("loops");
    expect(lanesOf(host, "a", "loops")).toEqual([0]);
  });
});

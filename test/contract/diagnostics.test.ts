/** What was meant and does not happen is said, once: result fields that a hook does not know, settings that cannot have an effect. */
import { expect, it } from "vitest";
import { actor, ask, persist, sending, toolCall } from "../support/actors.ts";
import { contract, open, plugin, recorder, statuses } from "../support/host.ts";
import type { Line } from "../support/host.ts";
import { folder, write } from "../support/files.ts";

const of = (lines: readonly Line[], message: string) => lines.filter((line) => line.message === message).map(({ fields }) => fields);
const ignored = (lines: readonly Line[]) => of(lines, "a result field was ignored");

contract("diagnostics", (isolation) => {
  it("a result field that the hook does not know is named on the call, in the log and in inspect, once", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, { logger, plugins: [actor("guard"), actor("other")] });
    const run = () => host.run("before_tool_call", toolCall({ guard: `return { blok: true, params: { a: 1 } }` }));
    const diagnostic = '"before_tool_call" has no result field "blok", it was ignored; did you mean "block"?';
    for (const outcome of [await run(), await run(), await run()]) {
      expect(outcome).toMatchObject({ decision: "pass", result: { params: { a: 1 } } });
      expect(outcome.calls).toMatchObject([{ plugin: "guard", status: "ok", ignored: ["blok"] }, { plugin: "other" }]);
      expect(outcome.calls[1]).not.toHaveProperty("ignored");
    }
    expect(ignored(lines)).toEqual([{ plugin: "guard", hook: "before_tool_call", diagnostic }]);
    expect(host.inspect("guard").diagnostics).toEqual([diagnostic]);
    expect(host.inspect("other").diagnostics).toEqual([]);
  });

  it("another hook, field or plugin is another diagnostic", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, { logger, plugins: [actor("a"), actor("b")] });
    const script = { a: `return { contents: "x", cancle: true }`, b: `return { contents: "x" }` };
    await host.run("message_sending", sending(script), { channelId: "chat" });
    host.runSync("tool_result_persist", persist({ a: `return { contents: "x" }` }));
    expect(ignored(lines).map(({ plugin: id, diagnostic }) => [id, diagnostic])).toEqual([
      ["a", '"message_sending" has no result field "contents", it was ignored; did you mean "content"?'],
      ["a", '"message_sending" has no result field "cancle", it was ignored; did you mean "cancel"?'],
      ["b", '"message_sending" has no result field "contents", it was ignored; did you mean "content"?'],
      ["a", '"tool_result_persist" has no result field "contents", it was ignored'],
    ]);
  });

  it("a field inside a field has its path", async () => {
    await using host = await open(isolation, { plugins: [actor("asker")] });
    const outcome = await host.run(
      "before_tool_call",
      toolCall({ asker: `return { requireApproval: { title: "t", description: "d", timeoutms: 5 } }` }),
    );
    expect(outcome.calls[0]?.ignored).toEqual(["requireApproval.timeoutms"]);
    expect(host.inspect("asker").diagnostics[0]).toContain('"requireApproval.timeoutms", it was ignored; did you mean "timeoutMs"?');
  });

  it("fields that the hook knows, those of free-form values and those of the event itself are no cause", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, {
      logger,
      plugins: [actor("a"), plugin("env", `api.on("resolve_exec_env", () => ({ ANY_NAME: "1" }));`)],
    });
    await host.run("message_sending", sending({ a: `return { ...event, content: "x", cancel: false, metadata: { any: { thing: 1 } } }` }), {
      channelId: "chat",
    });
    await host.run("before_tool_call", toolCall({ a: `return { params: { any: 1 }, block: undefined }` }));
    await host.run("resolve_exec_env", { toolName: "exec", host: "gateway" });
    expect(host.inspect("a").diagnostics).toEqual([]);
    expect(lines.filter(({ level }) => level !== "info")).toEqual([]);
    // But one that comes back changed was meant to change something.
    await host.run("message_sending", sending({ a: `return { ...event, to: "bob" }` }), { channelId: "chat" });
    expect(host.inspect("a").diagnostics).toEqual(['"message_sending" has no result field "to", it was ignored']);
  });

  it("a plugin that invents fields gets a bounded number of diagnostics, without forging log lines", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, { logger, plugins: [actor("a")] });
    const body = `return Object.fromEntries(Array.from({ length: 100 }, (_, i) => [event.content + i + "\\n\\u001b[31m" + "x".repeat(1000), 1]))`;
    for (let i = 0; i < 10; i++) await host.run("message_sending", sending({ a: body }, `field${i}-`), { channelId: "chat" });
    const { diagnostics } = host.inspect("a");
    expect(diagnostics).toHaveLength(32);
    expect(ignored(lines)).toHaveLength(32);
    // oxlint-disable-next-line no-control-regex -- that is the point
    expect(diagnostics.filter((text) => text.length > 300 || /[\u0000-\u001f]/.test(text))).toEqual([]);
  });

  it("a cell that is replaced keeps its diagnostics, a reload starts afresh", async () => {
    const body = `api.on("message_sending", (event) => { if (event.content === "die") for (;;); return { contnt: "x" }; })`;
    const root = folder({ "p.js": `export default (api) => { ${body} };` });
    await using host = await open(isolation, { plugins: [{ path: `${root}/p.js`, hooks: { cpuMs: 200 } }] });
    expect(statuses(await host.run("message_sending", sending({}), { channelId: "chat" }))).toEqual(["p:ok"]);
    expect(host.inspect("p").diagnostics).toHaveLength(1);
    expect(statuses(await host.run("message_sending", sending({}, "die"), { channelId: "chat" }))).not.toEqual(["p:ok"]);
    expect(statuses(await host.run("message_sending", sending({}), { channelId: "chat" }))).toEqual(["p:ok"]);
    expect(host.inspect("p").diagnostics).toHaveLength(1);
    write(root, { "p.js": `export default (api) => { ${body.replace("contnt", "content")} };` });
    expect((await host.reload("p")).diagnostics).toEqual([]);
    await host.run("message_sending", sending({}), { channelId: "chat" });
    expect(host.inspect("p").diagnostics).toEqual([]);
  });

  it("hooks.failure closed on a hook that cannot block, or on none, is said in the log and to whom it concerns", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, {
      logger,
      config: {
        hooks: { failure: { "session:patch": "closed", befor_tool_call: "closed", before_tool_call: "closed", agent_end: "open" } },
      },
      plugins: [
        actor("a", { on: ["session:patch"] }),
        plugin("family", `api.on("session", () => {});`),
        actor("b", { on: ["message_sending"] }),
      ],
    });
    const patch = 'hooks.failure sets "session:patch" to closed, but it has nothing to block: a handler that fails is skipped';
    expect(of(lines, "a setting has no effect")).toEqual([
      { hook: "session:patch", diagnostic: patch },
      {
        hook: "befor_tool_call",
        diagnostic: 'hooks.failure names "befor_tool_call", and there is no such hook; did you mean "before_tool_call"?',
      },
    ]);
    expect(host.plugins().map(({ id, diagnostics }) => [id, diagnostics])).toEqual([
      ["a", [patch]],
      ["family", [patch]],
      ["b", []],
    ]);
    // It is no error: everything else works.
    expect(await ask(host, "b", "1")).toBe(1);
  });
});

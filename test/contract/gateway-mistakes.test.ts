/** The gateway's own mistakes are the only thing `run` rejects for: typed errors that name the hook and the field. */
import { expect, it } from "vitest";
import { CreelError, defineHook } from "creel";
import * as z from "zod";
import { LIMITS } from "../../src/protocol/limits.ts";
import { actor, ask, patched, persist, sending, toolCall } from "../support/actors.ts";
import { thrownBy } from "../support/errors.ts";
import { contract, open, sharedHost, statuses } from "../support/host.ts";

/** For calls that the types forbid. */
type Loose = {
  run(hook: unknown, event?: unknown, ctx?: unknown, options?: unknown): Promise<unknown>;
  runSync(hook: unknown, event?: unknown): unknown;
};

/** The CreelError that the promise rejects with. */
async function mistake(running: Promise<unknown>): Promise<CreelError> {
  const error = await running.then(
    () => new Error("it did not reject"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CreelError);
  return error as CreelError;
}

contract("mistakes of the gateway", (isolation) => {
  const shared = sharedHost(isolation, { plugins: [actor("a")] });
  const loose = () => shared.host as unknown as Loose;

  it("an unknown hook is named, with the nearest name there is", async () => {
    const error = await mistake(loose().run("before_tool_cal", {}));
    expect(error.code).toBe("ERR_HOOK_UNKNOWN");
    expect(error.message).toBe('there is no hook named "before_tool_cal"; did you mean "before_tool_call"?');
    expect(error.fix).toContain("defineHook");
  });

  it.each(["nothing_like_it_at_all", "", "__proto__", "constructor", "toString"])(
    "the hook %j is unknown, without a guess",
    async (name) => {
      const error = await mistake(loose().run(name, {}));
      expect(error).toMatchObject({ code: "ERR_HOOK_UNKNOWN", message: `there is no hook named "${name}"` });
    },
  );

  it.each([
    ["a missing field", { toolName: "t" }, "params"],
    ["a field of the wrong type", { toolName: 5, params: {} }, "toolName"],
    ["an empty tool name", { toolName: "", params: {} }, "toolName"],
    ["a wrong item of a list", { toolName: "t", params: {}, derivedPaths: ["a", 1] }, "derivedPaths.1"],
    ["no object at all", "text", "(whole value)"],
    ["nothing", undefined, "(whole value)"],
    ["null", null, "(whole value)"],
  ])("an event with %s is rejected and the field named", async (_, event, field) => {
    const error = await mistake(loose().run("before_tool_call", event));
    expect(error).toMatchObject({ code: "ERR_EVENT_INVALID", params: { hook: "before_tool_call", field } });
    expect(error.message).toContain(`the event of "before_tool_call" is not valid at "${field}"`);
  });

  it("a nested field of an event is named by its path", async () => {
    const event = { ...patched({}), context: { sessionEntry: {}, patch: { key: "k", sendPolicy: "maybe" } } };
    expect((await mistake(loose().run("session:patch", event))).params).toMatchObject({ field: "context.patch.sendPolicy" });
  });

  it("an invalid context is rejected and the field named", async () => {
    const error = await mistake(loose().run("message_sending", sending({}), { channelId: 5 }));
    expect(error).toMatchObject({ code: "ERR_CONTEXT_INVALID", params: { hook: "message_sending", field: "channelId" } });
  });

  it("fields that the catalog does not know pass through, and undefined ones vanish", async () => {
    const outcome = await shared.host.run(
      "message_sending",
      {
        ...sending({ a: `return { cancelReason: JSON.stringify([event.extra, "gone" in event, ctx]) }` }),
        extra: { deep: [1] },
        gone: undefined,
      },
      { channelId: "c", more: 1 },
    );
    expect(JSON.parse(outcome.result!.cancelReason!)).toEqual([{ deep: [1] }, false, { channelId: "c", more: 1 }]);
  });

  it("an event with a cycle or a BigInt cannot be written as JSON", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect((await mistake(shared.host.run("before_tool_call", toolCall({}, cyclic)))).code).toBe("ERR_EVENT_NOT_JSON");
    expect((await mistake(shared.host.run("before_tool_call", toolCall({}, { n: 5n })))).code).toBe("ERR_EVENT_NOT_JSON");
    expect((await mistake(loose().run("before_tool_call", toolCall({}), { toolName: toolCall({}).toolName, cyclic }))).code).toBe(
      "ERR_EVENT_NOT_JSON",
    );
  });

  it("an event that is too large is refused with its size and the limit", async () => {
    const error = await mistake(shared.host.run("message_sending", sending({}, "x".repeat(LIMITS.call.eventBytes)), { channelId: "chat" }));
    expect(error).toMatchObject({ code: "ERR_EVENT_SIZE", params: { limit: LIMITS.call.eventBytes } });
  });

  it("sizes count bytes, so that a text of many-byte letters cannot overrun the sandbox's frames", async () => {
    const restarts: unknown[] = [];
    const off = shared.host.on("restart", (fact) => restarts.push(fact));
    const error = await mistake(
      shared.host.run("message_sending", sending({}, "€".repeat(LIMITS.call.eventBytes - 1_000_000)), { channelId: "chat" }),
    );
    expect(error.code).toBe("ERR_EVENT_SIZE");
    const fits = await shared.host.run(
      "message_sending",
      sending({ a: `return { cancelReason: String(event.content.length) }` }, "€".repeat(1_000_000)),
      { channelId: "chat" },
    );
    expect(fits.result?.cancelReason).toBe("1000000");
    off();
    expect(restarts).toEqual([]);
  });

  it("an event just under the limit passes", async () => {
    const outcome = await shared.host.run(
      "message_sending",
      sending({ a: `return { cancelReason: String(event.content.length) }` }, "x".repeat(LIMITS.call.eventBytes - 1_000)),
      { channelId: "chat" },
    );
    expect(statuses(outcome)).toEqual(["a:ok"]);
  });

  it("lone surrogates and other odd text arrive as they are", async () => {
    const odd = "a\ud800b\u0000\u2028😀\uffff";
    const outcome = await shared.host.run("message_sending", sending({ a: `return { content: event.content + "!" }` }, odd), {
      channelId: "chat",
    });
    expect(outcome.result?.content).toBe(`${odd}!`);
  });

  it("a signal that is already aborted rejects with its reason, before anything runs", async () => {
    const reason = new Error("too late");
    await expect(
      shared.host.run(
        "message_sending",
        sending({ a: `state.ranAborted = true` }),
        { channelId: "chat" },
        { signal: AbortSignal.abort(reason) },
      ),
    ).rejects.toBe(reason);
    expect(await ask(shared.host, "a", "state.ranAborted")).toBeNull();
  });

  it("an abort during a run rejects with its reason, and the handler's work stops", async () => {
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const running = shared.host.run(
      "message_sending",
      sending({ a: `async await new Promise((r) => setTimeout(r, 100)); state.afterAbort = true` }),
      { channelId: "chat" },
      { signal: controller.signal },
    );
    const rejected = running.catch((error: unknown) => error);
    await shared.host.run("message_sending", sending({}), { channelId: "chat" });
    controller.abort(reason);
    expect(await rejected).toBe(reason);
    await shared.host.run("message_sending", sending({ a: `async await new Promise((r) => setTimeout(r, 150))` }), { channelId: "chat" });
    expect(await ask(shared.host, "a", "state.afterAbort")).toBeNull();
  });

  it("an abort in the same tick as the run rejects, and the host goes on", async () => {
    const controller = new AbortController();
    const running = shared.host.run("message_sending", sending({}), { channelId: "chat" }, { signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toThrow(/abort/i);
    expect(
      (await shared.host.run("message_sending", sending({ a: `return { content: "b" }` }), { channelId: "chat" })).result?.content,
    ).toBe("b");
  });

  it("an abort after the run has settled changes nothing", async () => {
    const controller = new AbortController();
    const outcome = await shared.host.run("message_sending", sending({}), { channelId: "chat" }, { signal: controller.signal });
    controller.abort();
    expect(outcome.decision).toBe("pass");
  });

  it("runSync throws on a hook of another kind, and on the mistakes that run rejects for", () => {
    // oxlint-disable-next-line unicorn/consistent-function-scoping -- only this test reads codes
    const code = (act: () => unknown) => (thrownBy(act) as CreelError | undefined)?.code;
    expect(code(() => loose().runSync("message_sending", sending({})))).toBe("ERR_HOOK_KIND");
    expect(code(() => loose().runSync("tool_result_persists", persist({})))).toBe("ERR_HOOK_UNKNOWN");
    expect(code(() => loose().runSync("tool_result_persist", { message: 5 }))).toBe("ERR_EVENT_INVALID");
  });

  it("a closed host refuses everything with ERR_HOST_CLOSED", async () => {
    const host = await open(isolation, { plugins: [actor("a")] });
    await host.close();
    expect((await mistake(host.run("message_sending", sending({}), { channelId: "chat" }))).code).toBe("ERR_HOST_CLOSED");
    expect((await mistake(host.run("session:patch", patched({})))).code).toBe("ERR_HOST_CLOSED");
    expect(() => host.runSync("tool_result_persist", persist({}))).toThrow("the host is closed");
    expect(() => host.emit("session:patch", patched({}))).not.toThrow();
    expect((await mistake(host.reload("a"))).code).toBe("ERR_HOST_CLOSED");
  });

  it("options that make no sense are refused before anything starts", async () => {
    // oxlint-disable-next-line unicorn/consistent-function-scoping -- it is about this isolation
    const refused = async (options: object) => (await mistake(open(isolation, options))).message;
    expect(await refused({ lanes: 0 })).toContain('"lanes"');
    expect(await refused({ plugins: [{ id: "x" }] })).toContain('"plugins.0');
    expect(await refused({ plugins: [{ id: "x y", source: "" }] })).toBe('"x y" is not a plugin id');
    expect(await refused({ plugins: [actor("a"), actor("a")] })).toBe('two plugins have the id "a"');
    expect(await refused({ config: { hooks: { failure: { before_tool_call: "maybe" } } } })).toContain("hooks.failure.before_tool_call");
    expect(await refused({ config: "/no/such/creel.json" })).toContain("/no/such/creel.json");
    const again = defineHook({
      name: "agent_end",
      kind: "observe",
      summary: "",
      event: z.object({}),
      context: z.object({}),
      result: z.undefined(),
    });
    expect(await refused({ hooks: { agent_end: again } })).toBe('the catalog already has a hook named "agent_end"');
  });

  it("an unknown plugin is named", async () => {
    expect(() => shared.host.inspect("nobody")).toThrow('this host has no plugin "nobody"');
    expect((await mistake(shared.host.reload("nobody"))).code).toBe("ERR_PLUGIN_UNKNOWN");
    expect(() => shared.host.disable("nobody")).toThrow("nobody");
  });
});

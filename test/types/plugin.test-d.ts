/** The types a plugin author meets: events and results by hook name, in every form of handler. */
import { expectTypeOf, test } from "vitest";
import { definePlugin } from "creel/plugin";
import type { HookAnswer, HookEvent, PluginApi } from "creel/plugin";

declare const api: PluginApi<{ limit: number }>;

test("a handler gets the event and context of its hook", () => {
  api.on("before_tool_call", (event, ctx) => {
    expectTypeOf(event.toolName).toEqualTypeOf<string>();
    expectTypeOf(event.params).toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf(ctx.toolName).toEqualTypeOf<string>();
    expectTypeOf(ctx.sessionKey).toEqualTypeOf<string | undefined>();
  });
  // @ts-expect-error misspelt hook
  api.on("before_toolcall", () => {});
  expectTypeOf<HookEvent<"message_sending">["content"]>().toEqualTypeOf<string>();
});

test("a handler returns the result of its hook, a promise of it, or nothing", () => {
  expectTypeOf<{ content: string }>().toExtend<HookAnswer<"message_sending">>();
  api.on("message_sending", () => ({ content: "x", cancel: false }));
  api.on("message_sending", async () => ({ content: "x" }));
  api.on("message_sending", () => null);
  api.on("message_sending", () => {});
  // @ts-expect-error a field of the wrong type
  api.on("message_sending", () => ({ content: 5 }));
  // @ts-expect-error by promise, too
  api.on("message_sending", async () => ({ cancel: "yes" }));
  api.on("before_tool_call", () => ({ requireApproval: { title: "t", description: "d", severity: "warning" } }));
  // @ts-expect-error no such severity
  api.on("before_tool_call", () => ({ requireApproval: { title: "t", description: "d", severity: "fatal" } }));
});

test("a result field that the hook does not have is an error on every branch", () => {
  // @ts-expect-error beside a field that exists
  api.on("before_tool_call", () => ({ blok: true, blockReason: "x" }));
  // @ts-expect-error on one branch of several
  api.on("before_tool_call", (event) => {
    if (event.toolName === "exec") return { block: true, blockReason: "x" };
    if (event.toolName === "read") return { params: {}, blok: true };
    return undefined;
  });
  // @ts-expect-error alone on one branch
  api.on("before_tool_call", (event) => (event.toolName === "exec" ? { blok: true } : undefined));
  // @ts-expect-error alone on one branch, with another that is right
  api.on("before_tool_call", (event) => {
    if (event.toolName === "exec") return { blok: true };
    return { block: true, blockReason: "x" };
  });
  // @ts-expect-error by promise
  api.on("before_tool_call", async (event) => (event.toolName === "x" ? { block: true } : { parms: {}, block: false }));
  // @ts-expect-error in a conditional
  api.on("message_sending", ({ content }) => (content ? { content, cancle: true } : undefined));
  // A declared answer has all of its fields.
  api.on("before_tool_call", (): HookAnswer<"before_tool_call"> => ({ requireApproval: { title: "t", description: "d" } }));
  // @ts-expect-error nothing is blocked by a reason alone
  api.on("before_tool_call", () => ({ blockReason: "x" }));
  // @ts-expect-error nothing is cancelled by a reason alone
  api.on("message_sending", (event) => (event.to === "x" ? { cancelReason: "x" } : undefined));
  api.on("before_tool_call", ({ params, toolName }) => {
    if (toolName === "exec") return { block: params.command === "rm", blockReason: "no" };
    if (toolName === "ask") return { requireApproval: { title: "t", description: "d", allowedDecisions: ["deny"], onResolution() {} } };
    return toolName === "read" ? { params: { ...params, path: "/" } } : undefined;
  });
  // What is typed as anything is not judged.
  api.on("before_tool_call", () => JSON.parse("{}"));
  expectTypeOf<{ block: true; blockReason: string }>().toExtend<HookAnswer<"before_tool_call">>();
});

test("an observer may return anything, a synchronous handler no promise", () => {
  expectTypeOf<Promise<number>>().toExtend<HookAnswer<"agent_end">>();
  api.on("agent_end", () => 5);
  api.on("agent_end", async () => "x");
  api.on("tool_result_persist", ({ message }) => ({ message }));
  // @ts-expect-error nobody would wait for it
  api.on("tool_result_persist", async ({ message }) => ({ message }));
});

test("options and configuration are typed", () => {
  api.on("before_tool_call", () => {}, { priority: 5, timeoutMs: 100, matcher: ["read"] });
  // @ts-expect-error a priority is a number
  api.on("before_tool_call", () => {}, { priority: "high" });
  expectTypeOf(api.pluginConfig.limit).toEqualTypeOf<number>();
});

test("tools, commands, methods and services are typed", () => {
  api.registerTool({
    name: "t",
    parameters: { type: "object" },
    execute(id, params: { text: string }, signal, onUpdate) {
      expectTypeOf(id).toEqualTypeOf<string>();
      expectTypeOf(params.text).toEqualTypeOf<string>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal | undefined>();
      onUpdate?.(1);
    },
  });
  api.registerTool((ctx) => (ctx.sessionKey ? { name: "t", execute: () => ctx.sessionKey } : null), { optional: true });
  api.registerCommand({ name: "c", handler: ({ args }) => ({ text: args }) });
  api.registerGatewayMethod("m", (call) => call.respond(true, {}));
  expectTypeOf(api.registerService({ id: "s", async start() {} })).toEqualTypeOf<void>();
  // @ts-expect-error a tool does something
  api.registerTool({ name: "t" });
  // @ts-expect-error a service has an id
  api.registerService({ start() {} });
});

test("definePlugin wants an id and register", () => {
  expectTypeOf(definePlugin({ id: "x", register() {} }).id).toEqualTypeOf<string>();
  definePlugin<{ limit: number }>({
    id: "x",
    register(given) {
      expectTypeOf(given.pluginConfig).toEqualTypeOf<{ limit: number }>();
    },
  });
  definePlugin({ id: "x", async register() {} });
  // @ts-expect-error no register
  definePlugin({ id: "x" });
  // @ts-expect-error no id
  definePlugin({ register() {} });
});

test("the store gives what its author says is in it, or nothing; jobs get a Date", () => {
  expectTypeOf(api.kv.get<{ n: number }>("k")).resolves.toEqualTypeOf<{ n: number } | undefined>();
  expectTypeOf(api.kv.increment("k")).resolves.toEqualTypeOf<number>();
  expectTypeOf(api.kv.update("k", (old: number | undefined) => (old ?? 0) + 1)).resolves.toEqualTypeOf<number | undefined>();
  // @ts-expect-error a key is a text
  void api.kv.get(5);
  // @ts-expect-error milliseconds
  void api.kv.set("k", 1, { ttl: 5 });
  api.schedule.on("job", (_, job) => expectTypeOf(job.dueAt).toEqualTypeOf<Date>());
  expectTypeOf(api.schedule.cron("job", "@daily", { any: "data" }, { timezone: "UTC" })).resolves.toEqualTypeOf<string>();
});

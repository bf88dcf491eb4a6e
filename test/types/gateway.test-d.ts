/** The types a gateway developer meets: hooks by name, events, results, and which method fits which kind. */
/* oxlint-disable typescript/unbound-method -- types only: nothing here is called */
import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import { CreelError, defineHook, openHost } from "creel";
import type { ApprovalQuestion, Catalog, EventOf, Host, Outcome, PluginReport, RememberedApproval } from "creel";

declare const host: Host;

test("a hook is known by its name", () => {
  expectTypeOf(host.run).toBeCallableWith(
    "before_tool_call",
    { toolName: "t", params: {} },
    { toolName: "t" },
    { signal: AbortSignal.abort(), remember: false, requestApproval: async ({ requests }) => (requests.length > 1 ? "deny" : null) },
  );
  // @ts-expect-error no decision
  void host.run("before_tool_call", { toolName: "t", params: {} }, undefined, { requestApproval: async () => "yes" });
  // @ts-expect-error misspelt hook
  void host.run("before_tool_cal", { toolName: "t", params: {} });
  // @ts-expect-error misspelt hook
  host.has("before_tool_cal");
  expectTypeOf(host.has("agent_end")).toEqualTypeOf<boolean>();
});

test("an event has the fields of its hook", () => {
  expectTypeOf<EventOf<Catalog["before_tool_call"]>>().toExtend<{ toolName: string; params: Record<string, unknown> }>();
  // @ts-expect-error a field is missing
  void host.run("before_tool_call", { toolName: "t" });
  // @ts-expect-error a field of the wrong type
  void host.run("before_tool_call", { toolName: 5, params: {} });
  // @ts-expect-error a wrong literal
  void host.run("session:patch", { type: "session", action: "start", sessionKey: "k", context: { sessionEntry: {}, patch: { key: "k" } } });
  // @ts-expect-error a wrong context
  void host.run("message_sending", { to: "x", content: "y" }, { channelId: 5 });
});

test("a result has the type of its hook", async () => {
  const tool = await host.run("before_tool_call", { toolName: "t", params: {} });
  expectTypeOf(tool.result!.params).toEqualTypeOf<Record<string, unknown> | undefined>();
  expectTypeOf(tool.result!.block).toEqualTypeOf<boolean | undefined>();
  expectTypeOf(tool.decision).toEqualTypeOf<"pass" | "block">();
  const message = await host.run("message_sending", { to: "a", content: "b" });
  expectTypeOf(message.decision).toEqualTypeOf<"pass" | "cancel">();
  // @ts-expect-error this hook cannot end so
  void (message.decision === "handled");
  // @ts-expect-error no such field in this hook's result
  void tool.result?.content;
  // @ts-expect-error requests for approval are settled when there is an outcome
  void tool.result?.requireApproval;
  const send = await host.run("message_sending", { to: "x", content: "y" }, { channelId: "chat" });
  expectTypeOf(send.result!.content).toEqualTypeOf<string | undefined>();
  const end = await host.run("agent_end", { messages: [], success: true });
  expectTypeOf(end.result).toEqualTypeOf<undefined>();
});

test("emit is for observe hooks, runSync for sync hooks", () => {
  expectTypeOf(host.emit("agent_end", { messages: [], success: true })).toEqualTypeOf<{ readonly kept: Promise<void> } | undefined>();
  // @ts-expect-error a gate cannot be emitted: somebody must hear its decision
  host.emit("before_tool_call", { toolName: "t", params: {} });
  // @ts-expect-error a sync hook cannot be emitted
  host.emit("tool_result_persist", { message: {} });
  expectTypeOf(host.runSync("tool_result_persist", { message: {} }).result!.message).toEqualTypeOf<Record<string, unknown> | undefined>();
  // @ts-expect-error not a sync hook
  host.runSync("message_sending", { to: "x", content: "y" });
  // @ts-expect-error not a sync hook
  host.runSync("agent_end", { messages: [], success: true });
});

test("hooks of the gateway's own are typed like the catalog's", async () => {
  const ping = defineHook({
    name: "ping",
    kind: "gate",
    summary: "",
    event: z.object({ n: z.number() }),
    context: z.object({}),
    result: z.object({ pong: z.string().optional() }),
  });
  const note = defineHook({
    name: "note",
    kind: "observe",
    summary: "",
    event: z.object({ text: z.string() }),
    context: z.object({}),
    result: z.undefined(),
  });
  const own = await openHost({ hooks: { ping, note } });
  expectTypeOf(await own.run("ping", { n: 1 })).toEqualTypeOf<Outcome<{ pong?: string | undefined }, "pass" | "block">>();
  // @ts-expect-error a wrong event of an own hook
  void own.run("ping", { n: "1" });
  own.emit("note", { text: "x" });
  // @ts-expect-error an own gate cannot be emitted
  own.emit("ping", { n: 1 });
  expectTypeOf(own.run).toBeCallableWith("message_sending", { to: "x", content: "y" });
});

test("what plugins declare is called by its kind", () => {
  expectTypeOf(host.tools()[0]!.about.parameters).toEqualTypeOf<Record<string, unknown> | undefined>();
  expectTypeOf(host.commands()[0]!.about.acceptsArgs).toEqualTypeOf<boolean | undefined>();
  expectTypeOf(host.call({ tool: "x" }, {}, { signal: AbortSignal.abort() }))
    .resolves.toHaveProperty("value")
    .toBeUnknown();
  expectTypeOf(host.services()[0]!.status).toEqualTypeOf<"starting" | "running" | "failed" | "stopped">();
  // @ts-expect-error a tool, a command or a method
  void host.call({ service: "x" });
});

test("facts are typed by their name", () => {
  host.on("call", ({ call }) => expectTypeOf(call.status).toEqualTypeOf<Outcome["calls"][number]["status"]>());
  host.on("log", ({ level }) => expectTypeOf(level).toEqualTypeOf<"debug" | "info" | "warn" | "error">());
  // @ts-expect-error no such fact
  host.on("nothing", () => {});
  expectTypeOf(host.on("run", () => {})).toEqualTypeOf<() => void>();
});

test("the host is disposable, its reports and errors are typed", () => {
  expectTypeOf<Host>().toExtend<AsyncDisposable>();
  expectTypeOf(host.plugins()).toEqualTypeOf<PluginReport[]>();
  // @ts-expect-error not a code of the table
  void new CreelError("ERR_NO_SUCH");
  // @ts-expect-error no such isolation
  void openHost({ isolation: "vm" });
  void openHost({ allowFailed: true, plugins: [{ path: "x", required: true }] });
  // @ts-expect-error true or false
  void openHost({ allowFailed: "yes" });
  // @ts-expect-error misspelt
  void openHost({ alowFailed: true });
  // @ts-expect-error true or false
  void openHost({ plugins: [{ path: "x", required: "yes" }] });
  // @ts-expect-error misspelt
  void openHost({ gateway: { requestAproval: async () => "deny" } });
  expectTypeOf<PluginReport["isRequired"]>().toEqualTypeOf<boolean>();
  expectTypeOf<PluginReport["hooks"][number]["failure"]>().toEqualTypeOf<"open" | "closed">();
  expectTypeOf<PluginReport["hooks"][number]["ifItFails"]>().toEqualTypeOf<string>();
  // @ts-expect-error a plugin has a path or a source
  void openHost({ plugins: [{ id: "x" }] });
});

test("a question has every request and every change; an always has its whole key", () => {
  expectTypeOf<ApprovalQuestion["requests"][number]>().toExtend<{ pluginId: string; title: string; description: string }>();
  expectTypeOf<ApprovalQuestion["changes"][number]>().toExtend<{ pluginId: string; params: Record<string, unknown> }>();
  expectTypeOf(host.approvals()).toEqualTypeOf<RememberedApproval[]>();
  host.revokeApproval({ pluginId: "p", toolName: "t", agentId: undefined });
  // @ts-expect-error whose it is must be said
  host.revokeApproval({ toolName: "t", agentId: undefined, title: "Run it?" });
});

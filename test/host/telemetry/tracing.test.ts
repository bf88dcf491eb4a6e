/** Spans of runs, calls, approvals and plugins' requests, with both majors of OpenTelemetry's SDK. */
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { context, trace } from "@opentelemetry/api";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import { folder, QUICK } from "../../support/files.ts";
import { open, plugin, silent } from "../../support/host.ts";
import { putInstalled } from "../../support/installed.ts";
import { RawClient, served } from "../../support/serve.ts";
import { MAJORS, registered } from "../../support/otel.ts";
import type { ReadSpan, Registered } from "../../support/otel.ts";

const GUARD = `
  api.on("before_tool_call", async (event) => {
    if (event.params.block) return { block: true, blockReason: "secret words" };
    if (event.params.fail) throw new Error("secret words");
    if (event.params.ask) return { requireApproval: { title: "t", description: "d" } };
    if (event.params.patch) await api.session.patch({ key: "agent:main:main", label: "x" });
    if (event.params.later) setTimeout(() => void api.session.patch({ key: "agent:main:main", label: "x" }), 20);
    if (event.params.url) await fetch(event.params.url, { method: "POST", headers: { traceparent: "00-${"a".repeat(32)}-${"b".repeat(16)}-01" } });
  });
  api.registerTool({ name: "weather", description: "d", execute: async () => "sun" });`;
const OTHER = `api.on("before_tool_call", () => {}, { priority: -1 }); api.on("session:patch", () => {});`;

const idOf = (span: ReadSpan): string => span.spanContext().spanId;
const parentOf = (span: ReadSpan): string | undefined => span.parentSpanContext?.spanId;
const seconds = ([s, ns]: readonly [number, number]): number => s + ns / 1e9;

describe.each(MAJORS)("with SDK %s", (major) => {
  let otel: Registered;
  let host: Host;
  let origin: string;
  let unmarked: string;
  const seen: IncomingHttpHeaders[] = [];
  const servers = [0, 1].map(() => createServer((request, response) => void (seen.push(request.headers), response.end("ok"))));
  beforeAll(async () => {
    otel = registered(major);
    for (const server of servers) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    [origin, unmarked] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`) as [string, string];
    host = await open("thread", {
      plugins: [plugin("guard", GUARD, { grants: { session: ["get", "patch"], fetch: [origin, unmarked] } }), plugin("other", OTHER)],
      gateway: { patchSession: async () => ({ sessionEntry: {} }), requestApproval: async () => "allow-once" },
      telemetry: { propagate: [origin], parent: (_, event) => (event as { params?: { parent?: string } }).params?.parent },
    });
  });
  afterAll(async () => {
    await host.close();
    otel[Symbol.dispose]();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });
  beforeEach(() => otel.reset());

  const run = (params: Record<string, unknown> = {}, more: object = {}) =>
    host.run("before_tool_call", { toolName: "exec", params, toolCallId: "call-1" }, { toolName: "exec", agentId: "main", ...more });
  const named = (name: string): ReadSpan => otel.spans().find((span) => span.name === name)!;

  it("a run is a child of the caller's span, its calls are its children, and both say what the table says, without content", async () => {
    const tracer = trace.getTracer("gateway");
    const turn = tracer.startSpan("turn");
    const { runId } = await context.with(trace.setSpan(context.active(), turn), () => run({ block: true, command: "secret words" }));
    turn.end();
    const [ofRun, ofCall] = [named("hook before_tool_call"), named("plugin guard")];
    expect([parentOf(ofRun), parentOf(ofCall)]).toEqual([turn.spanContext().spanId, idOf(ofRun)]);
    expect(ofRun.attributes).toEqual({
      "creel.hook": "before_tool_call",
      "creel.run.id": runId,
      "creel.run.depth": 0,
      "creel.host.id": host.id,
      "creel.decision": "block",
      "creel.decided_by": "guard",
      "gen_ai.tool.name": "exec",
      "gen_ai.tool.call.id": "call-1",
      "gen_ai.agent.id": "main",
    });
    expect(ofCall.attributes).toMatchObject({
      "creel.plugin.id": "guard",
      "creel.plugin.digest": expect.stringContaining("sha"),
      "creel.call.status": "ok",
      "creel.call.cpu_time": expect.any(Number),
      "creel.call.attempt": 1,
      "creel.lane": 0,
    });
    // A block is an answer, not an error; a handler that was skipped is no span.
    expect([ofRun.status.code, ofCall.status.code, named("plugin other")]).toEqual([0, 0, undefined]);
    expect(seconds(ofCall.startTime)).toBeGreaterThanOrEqual(seconds(ofRun.startTime) - 1e-6);
    expect(seconds(ofCall.endTime)).toBeLessThanOrEqual(seconds(ofRun.endTime) + 1e-6);
    expect(JSON.stringify(otel.spans().map(({ name, attributes, status }) => [name, attributes, status]))).not.toContain("secret words");
  });

  it("a call says that its run waited for a lazy plugin to load, once", async () => {
    const stateDir = join(folder({}, QUICK), "state");
    await putInstalled(stateDir, "lazy", `export default (api) => { api.on("message_sending", () => {}); };`, { functions: [] });
    await using own = await open("thread", { config: { stateDir }, telemetry: true });
    const coldStarts = async () => {
      otel.reset();
      await own.run("message_sending", { to: "x", content: "y" }, { channelId: "c" });
      return named("plugin lazy").attributes["creel.cold_start"];
    };
    expect([await coldStarts(), await coldStarts()]).toEqual([true, undefined]);
  });

  it("a failed call is an error with its code; the run itself is none", async () => {
    await run({ fail: true });
    expect(named("plugin guard")).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "ERR_CALL_FAILED" } });
    expect(named("hook before_tool_call").status.code).toBe(0);
  });

  it("spans of a nested run nest: a run that a plugin causes is a child of the run it was caused in", async () => {
    await run({ patch: true });
    const [outer, inner] = [named("hook before_tool_call"), named("hook session:patch")];
    expect(parentOf(inner)).toBe(idOf(outer));
    expect(inner.spanContext().traceId).toBe(outer.spanContext().traceId);
    expect(inner.attributes["creel.run.depth"]).toBe(1);
    expect(seconds(outer.startTime)).toBeLessThanOrEqual(seconds(inner.startTime));
  });

  it("a run that a plugin causes after its run has ended is linked to it, and no child", async () => {
    await run({ later: true });
    const outer = named("hook before_tool_call");
    await expect.poll(() => named("hook session:patch"), { timeout: 10_000 }).toBeDefined();
    const inner = named("hook session:patch");
    expect([parentOf(inner), inner.links.map((link) => link.context.spanId)]).toEqual([undefined, [idOf(outer)]]);
  });

  it("the wait for a user is a span of its own", async () => {
    await run({ ask: true });
    const approval = named("approval");
    expect(approval.attributes).toEqual({ "creel.approval.resolution": "allow-once" });
    expect(parentOf(approval)).toBe(idOf(named("hook before_tool_call")));
  });

  it("a plugin's request is a client span; only marked origins get a traceparent, and none gets the plugin's own", async () => {
    await run({ url: `${origin}/path?secret` });
    const span = named("POST");
    expect(span.attributes).toMatchObject({
      "http.request.method": "POST",
      "server.address": "127.0.0.1",
      "http.response.status_code": 200,
      "creel.plugin.id": "guard",
    });
    expect(JSON.stringify(span.attributes)).not.toContain("path");
    expect([span.kind, parentOf(span)]).toEqual([2, idOf(named("hook before_tool_call"))]);
    expect(seen.at(-1)!.traceparent).toBe(`00-${span.spanContext().traceId}-${idOf(span)}-01`);
    await run({ url: unmarked });
    expect(seen.at(-1)).not.toHaveProperty("traceparent");
  });

  it("a plugin's tool is named as the convention wants it", async () => {
    await host.call({ tool: "weather" }, {});
    expect(named("execute_tool weather").attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "weather",
    });
  });

  it("without an active span the gateway may name the parent; what is no traceparent is ignored", async () => {
    await run({ parent: `00-${"c".repeat(32)}-${"d".repeat(16)}-01` });
    const child = named("hook before_tool_call");
    expect([child.spanContext().traceId, parentOf(child)]).toEqual(["c".repeat(32), "d".repeat(16)]);
    otel.reset();
    await run({ parent: `00-${"0".repeat(32)}-${"d".repeat(16)}-01` });
    expect(parentOf(named("hook before_tool_call"))).toBeUndefined();
  });

  it("OpenClaw's diagnostic trace is an attribute and a link, never a parent: no exported span has its ids", async () => {
    const diagnostic = { traceId: "e".repeat(32), spanId: "f".repeat(16) };
    await run({}, { trace: diagnostic });
    const span = named("hook before_tool_call");
    expect(span.attributes).toMatchObject({ "openclaw.traceId": diagnostic.traceId, "openclaw.spanId": diagnostic.spanId });
    expect([parentOf(span), span.links.map((link) => link.context.spanId)]).toEqual([undefined, [diagnostic.spanId]]);
  });
});

it("what is not sampled makes no spans, and runs go on", async () => {
  using otel = registered("3.x", false);
  await using host = await open("thread", { plugins: [plugin("guard", GUARD)], telemetry: true });
  expect(await host.run("before_tool_call", { toolName: "exec", params: {} })).toMatchObject({ decision: "pass" });
  expect(otel.spans()).toEqual([]);
});

it("is off by default, and on by configuration", async () => {
  using otel = registered("3.x");
  {
    await using host = await open("thread", { plugins: [plugin("guard", GUARD)] });
    await host.run("before_tool_call", { toolName: "exec", params: {} });
    expect(otel.spans()).toEqual([]);
  }
  await using host = await open("thread", { plugins: [plugin("guard", GUARD)], config: { telemetry: { enabled: true } } });
  await host.run("before_tool_call", { toolName: "exec", params: {} });
  expect(otel.spans().map(({ name }) => name)).toEqual(["plugin guard", "hook before_tool_call"]);
});

it("a gateway in another process: its span is the parent, over the socket; what is no traceparent is ignored", async () => {
  using otel = registered("3.x");
  const config = { sandbox: { spare: false, walls: "none" }, telemetry: { enabled: true } } as const;
  await using server = await served({ plugins: [plugin("guard", GUARD)], config });
  await using host = await openHost({ connect: server.socket, logger: silent, telemetry: true });
  const turn = trace.getTracer("gateway").startSpan("turn");
  await context.with(trace.setSpan(context.active(), turn), () => host.run("before_tool_call", { toolName: "exec", params: {} }));
  expect(otel.spans().map((span) => [span.name, parentOf(span) === turn.spanContext().spanId])).toContainEqual([
    "hook before_tool_call",
    true,
  ]);
  otel.reset();
  using raw = await RawClient.welcome(server.socket);
  for (const [at, traceparent] of ["x".repeat(1_000), 7, "00-zz"].entries()) {
    raw.say({ id: at, method: "run", params: { hook: "before_tool_call", event: { toolName: "exec", params: {} } }, traceparent });
    expect(await raw.next("id", at)).toHaveProperty("ok");
  }
  const runs = otel.spans().filter(({ name }) => name.startsWith("hook"));
  expect(runs.map(parentOf)).toEqual([undefined, undefined, undefined]);
});

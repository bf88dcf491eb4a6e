/** A context that the gateway leaves out: taken from the event where the catalog says so, refused where it cannot be. */
import { describe, expect, it } from "vitest";
import { CATALOG } from "creel";
import type { Outcome } from "creel";
import { acceptsOf } from "../../src/protocol/rules/compiled-check.ts";
import type { AnyHook } from "../../src/protocol/catalog.ts";
import { prepare } from "../../src/host/run/prepare.ts";
import { sampleEvent } from "../../src/protocol/rules/samples.ts";
import { thrownBy } from "../support/errors.ts";
import { contract, plugin, sharedHost } from "../support/host.ts";

/** Blocks, or cancels, with the context that it was given as the reason. */
const TELLS = `
  api.on("before_tool_call", (event, ctx) => ({ block: true, blockReason: JSON.stringify(ctx) }));
  api.on("message_sending", (event, ctx) => ({ cancel: true, cancelReason: JSON.stringify(ctx) }));
  api.on("before_install", (event, ctx) => ({ block: true, blockReason: JSON.stringify(ctx) }));
  api.on("beforeTurn", (event, ctx) => ({ abort: true, reason: JSON.stringify(ctx) }));
  api.on("session_start", (event, ctx) => console.log(JSON.stringify(ctx)));
`;

const seen = ({ reason }: Outcome): unknown => JSON.parse(reason ?? "null");

contract("a context that is left out", (isolation) => {
  const shared = sharedHost(isolation, {
    plugins: [{ ...plugin("tells", TELLS), hooks: { allowInstallDecisions: true, allowConversationAccess: true } }],
  });

  it("is taken from the event where the catalog says so", async () => {
    const event = { toolName: "exec", params: {}, runId: "r1", toolCallId: "t1" };
    expect(seen(await shared.host.run("before_tool_call", event))).toEqual({ toolName: "exec", runId: "r1", toolCallId: "t1" });
    const message = { to: "me", content: "x", metadata: { channel: "mail", accountId: "a" } };
    expect(seen(await shared.host.run("message_sending", message))).toEqual({ channelId: "mail", accountId: "a" });
    const install = sampleEvent(CATALOG.before_install) as never;
    expect(seen(await shared.host.run("before_install", install))).toEqual({ targetType: "skill", requestKind: "…" });
  });

  it("is refused, as an empty one is, when the event does not have what the hook needs; the error names the field and its source", async () => {
    const message = { to: "me", content: "x" };
    const leftOut = shared.host.run("message_sending", message);
    await expect(leftOut).rejects.toMatchObject({ code: "ERR_CONTEXT_INVALID", params: { field: "channelId" } });
    await expect(leftOut).rejects.toThrow("the context was left out, and it would be taken from event.metadata.channel");
    const empty = shared.host.run("message_sending", message, {} as never);
    await expect(empty).rejects.toMatchObject({ code: "ERR_CONTEXT_INVALID", params: { field: "channelId" } });
    await expect(empty).rejects.toThrow("a context that is left out takes it from event.metadata.channel");
  });

  it("stays empty for a hook that has none", async () => {
    expect(seen(await shared.host.run("beforeTurn", { sessionKey: "s", agentId: "a", workflow: "agent" }))).toEqual({});
  });

  it("is not added to one that was given", async () => {
    const event = { toolName: "exec", params: {}, runId: "r1" };
    expect(seen(await shared.host.run("before_tool_call", event, { toolName: "exec" }))).toEqual({ toolName: "exec" });
    await expect(shared.host.run("before_tool_call", event, { runId: "r1" } as never)).rejects.toMatchObject({
      code: "ERR_CONTEXT_INVALID",
      params: { field: "toolName" },
    });
  });

  it("and one whose toolName differs from the event's is refused: a guard may look at either", async () => {
    const run = shared.host.run("before_tool_call", { toolName: "exec", params: {} }, { toolName: "ls" });
    await expect(run).rejects.toMatchObject({ code: "ERR_CONTEXT_INVALID", params: { field: "toolName" } });
    await expect(run).rejects.toThrow("it differs from event.toolName");
  });
});

/** Hooks whose smallest event does not have what their context needs. */
const NEED_ONE: ReadonlySet<string> = new Set([
  "message_received",
  "message_sending",
  "message_sent",
  "reply_payload_sending",
  "skill_proposal_evaluate",
  "skill_proposal_changed",
  "skill_changed",
]);

describe("every hook of the catalog", () => {
  const hooks: AnyHook[] = Object.values(CATALOG);
  const named = (test: (hook: AnyHook) => boolean) => hooks.filter(test).map((hook) => [hook.name, hook] as const);

  it.each(named(({ name }) => !NEED_ONE.has(name)))("%s: no plugin sees a context that its types exclude", (_, hook) => {
    const { contextText } = prepare(hook, sampleEvent(hook), undefined);
    expect(acceptsOf(hook.context)(JSON.parse(contextText))).toBe(true);
  });

  it.each(named(({ name }) => NEED_ONE.has(name)))("%s is not run without a context that it needs", (_, hook) => {
    expect(thrownBy(() => prepare(hook, sampleEvent(hook), undefined))).toMatchObject({
      code: "ERR_CONTEXT_INVALID",
      params: { hook: hook.name, field: expect.stringMatching(/^(channelId|workspaceDir)$/) },
    });
  });

  it.each(named(({ contextFrom }) => contextFrom !== undefined))(
    "%s: fields that are taken from the event exist in its context and in its event",
    (_, hook) => {
      for (const [field, path] of Object.entries(hook.contextFrom!)) {
        expect(fieldsOf(hook.context)).toContain(field);
        expect(fieldsOf(hook.event)).toContain(path.split(".")[0]);
      }
    },
  );
});

function fieldsOf(schema: AnyHook["event"]): string[] {
  return Object.keys((schema as unknown as { readonly shape: object }).shape);
}

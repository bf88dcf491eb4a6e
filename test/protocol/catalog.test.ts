/** Rules about the catalog itself: what every entry must keep to, and which hooks there are, from hooks.md and the seeds. */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { CATALOG, FAMILIES } from "../../src/protocol/catalog.ts";
import type { AnyHook, HookKind, HookName } from "../../src/protocol/catalog.ts";
import { WHOLE } from "../../src/protocol/hooks/define.ts";
import { isHostCritical } from "../../src/protocol/hooks/exec-env.ts";
import { fieldsOf, hookSchemas, jsonSchema } from "../../src/protocol/rules/json-schema.ts";
import type { JsonSchema } from "../../src/protocol/rules/json-schema.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { merge, start } from "../../src/protocol/rules/merge.ts";
import type { Fields, Merged } from "../../src/protocol/rules/merge.ts";

const hooks: AnyHook[] = Object.values(CATALOG);
const namesWith = (is: (hook: AnyHook) => boolean) => hooks.filter(is).map(({ name }) => name);
const BY = { plugin: { id: "p" } };
const words = (text: string) => text.trim().split(/\s+/);

const TYPED: Record<HookKind, string[]> = {
  modify: words(`before_model_resolve agent_turn_prepare before_prompt_build before_agent_start before_agent_finalize
    heartbeat_prompt_contribution subagent_spawning subagent_delivery_target resolve_exec_env`),
  // before_dispatch is OpenClaw's claim, and rewrites without claiming, as the seed document says.
  gate: words("before_agent_run before_tool_call message_sending reply_payload_sending before_install before_dispatch"),
  claim: words("before_agent_reply inbound_claim reply_dispatch"),
  observe: words(`agent_end model_call_started model_call_ended llm_input llm_output after_tool_call channel_pairing_requested
    message_received message_sent session_start session_end before_compaction after_compaction before_reset subagent_spawned
    subagent_progress subagent_ended gateway_start gateway_stop cron_reconciled cron_changed skill_proposal_changed skill_changed`),
  sync: words("tool_result_persist before_message_write"),
  evaluate: words("skill_proposal_evaluate"),
};

const TURN = words("beforeTurn afterTurn onTurnError");

const INTERNAL = words(`session:start session:end session:patch session:auto-reset session:compact:before session:compact:after
  tool:start tool:update tool:result command:new command:reset command:stop message:received message:transcribed
  message:preprocessed message:sent agent:bootstrap agent:event gateway:startup gateway:shutdown gateway:pre-restart`);

describe("which hooks there are", () => {
  it("the 44 typed hooks of both eras, the turn hooks and the internal events, and no others", () => {
    const typed = Object.values(TYPED).flat();
    expect(typed).toHaveLength(44);
    expect(Object.keys(CATALOG).toSorted()).toEqual([...typed, ...TURN, ...INTERNAL].toSorted());
  });

  it.each(Object.entries(TYPED))("of kind %s", (kind, names) => {
    for (const name of names) expect([name, CATALOG[name as HookName].kind]).toEqual([name, kind]);
  });

  it("internal events are only observed, except those whose handlers return something", () => {
    const given = namesWith(({ name, kind }) => INTERNAL.includes(name) && kind !== "observe");
    expect(given).toEqual(["command:new", "command:reset", "agent:bootstrap"]);
  });

  it("no name is in two families", () => {
    const names = Object.values(FAMILIES).flatMap((family) => family.map(({ name }) => name as string));
    expect(names).toHaveLength(new Set(names).size);
  });

  it("since says an era of OpenClaw, or creel", () => {
    expect(new Set(hooks.map(({ since }) => since))).toEqual(new Set(["2026.4", "2026.9", "creel"]));
    expect(namesWith(({ since }) => since === "creel").toSorted()).toEqual(
      [...TURN, "session:start", "session:end", "tool:start", "tool:update", "tool:result", "agent:event"].toSorted(),
    );
  });
});

describe("policies", () => {
  it("exactly three hooks fail closed", () => {
    expect(namesWith(({ failure }) => failure === "closed").toSorted()).toEqual(["before_agent_run", "before_install", "before_tool_call"]);
  });

  it("a hook that fails closed can say so: it has a terminal result", () => {
    const mute = namesWith(({ failure, terminal }) => failure === "closed" && terminal?.reason === undefined);
    expect(mute).toEqual([]);
  });

  it("conversation access is needed where OpenClaw needs it", () => {
    expect(namesWith(({ permission }) => permission.includes("conversation")).toSorted()).toEqual(
      words(`agent:event agent_end agent_turn_prepare before_agent_finalize before_agent_reply before_agent_run before_model_resolve
        before_prompt_build llm_input llm_output`),
    );
  });

  it("prompt injection is refused where OpenClaw refuses it, and before_agent_start keeps its model fields", () => {
    expect(namesWith(({ permission }) => permission.includes("prompt")).toSorted()).toEqual(
      words("agent_turn_prepare before_prompt_build heartbeat_prompt_contribution"),
    );
    const { promptFields, result } = CATALOG.before_agent_start as AnyHook;
    const kept = fieldsOf(jsonSchema(result)).filter(({ name }) => !promptFields?.includes(name));
    expect(kept.map(({ name }) => name)).toEqual(["modelOverride", "providerOverride"]);
  });

  it("budgets are OpenClaw's, and its kind's default where OpenClaw has none", () => {
    const own = {
      channel_pairing_requested: 2_000,
      gateway_stop: 5_000,
      "gateway:shutdown": 5_000,
      "gateway:pre-restart": 10_000,
      skill_proposal_evaluate: 120_000,
    };
    const usual = { observe: LIMITS.call.observeWallMs, sync: LIMITS.sync.wallMs } as Partial<Record<HookKind, number>>;
    for (const { name, kind, budget } of hooks) {
      const expected = (own as Record<string, number>)[name] ?? usual[kind] ?? LIMITS.call.awaitedWallMs;
      expect([name, budget.wallMs]).toEqual([name, expected]);
    }
  });
});

const schemasOf = new Map(hooks.map((hook) => [hook, hookSchemas(hook)]));

/** The fields of the hook's result, by name. */
const resultOf = (hook: AnyHook) => new Map(fieldsOf(schemasOf.get(hook)!.result ?? {}).map((field) => [field.name, field.type]));

/** Whether the schema declares the field; below an open object or a list anything is. */
function has(schema: JsonSchema, path: string): boolean {
  const [first, ...rest] = path.split(".");
  const field = fieldsOf(schema).find(({ name }) => name === first);
  return field !== undefined && (rest.length === 0 || !field.schema.properties || has(field.schema, rest.join(".")));
}

/** What breaks a rule, as "hook: what"; a rule gives what it has to complain of. */
const breaches = (rule: (hook: AnyHook) => readonly (string | false | undefined)[]) =>
  hooks.flatMap((hook) => rule(hook).flatMap((complaint) => (complaint ? [`${hook.name}: ${complaint}`] : [])));

const missing = (names: readonly string[], isThere: (name: string) => boolean) => names.map((name) => !isThere(name) && name);

describe("every entry", () => {
  it("says in one sentence what the hook is for", () => {
    expect(breaches(({ summary }) => [(!/^[A-Z].*\.$/.test(summary) || /[.?!] /.test(summary)) && summary])).toEqual([]);
  });

  it("converts to JSON Schema", () => {
    for (const { event, context, result } of schemasOf.values()) {
      for (const schema of result ? [event, context, result] : [event, context]) {
        expect(schema.$schema).toContain("2020-12");
        expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
      }
    }
  });

  it("lets unknown fields of event and context pass", () => {
    for (const { event, context } of schemasOf.values()) {
      expect([event.additionalProperties, context.additionalProperties]).toEqual([{}, {}]);
    }
  });

  it("has no result on observe hooks, and nothing to merge where every result is kept", () => {
    expect(
      breaches(({ kind, result, merge: rules }) => [
        (kind === "observe") !== result instanceof z.ZodUndefined && "result",
        (kind === "observe" || kind === "evaluate") && Object.keys(rules).length > 0 && "merge",
      ]),
    ).toEqual([]);
  });

  it("merges the fields of its result, all of them and no others", () => {
    const merging = hooks.filter(({ kind, merge: rules }) => kind !== "observe" && kind !== "evaluate" && !rules[WHOLE]);
    for (const hook of merging) {
      expect([hook.name, Object.keys(hook.merge).toSorted()]).toEqual([hook.name, [...resultOf(hook).keys()].toSorted()]);
    }
    expect(namesWith(({ merge: rules }) => rules[WHOLE] !== undefined)).toEqual(["resolve_exec_env"]);
  });

  it("chains into fields of the event", () => {
    expect(
      breaches((hook) =>
        missing(
          Object.values(hook.merge).flatMap(({ chains }) => chains ?? []),
          (field) => has(schemasOf.get(hook)!.event, field),
        ),
      ),
    ).toEqual([]);
  });

  it("freezes fields of its result, and follows only a field that is merged before", () => {
    expect(
      breaches((hook) =>
        Object.entries(hook.merge).flatMap(([field, { freezes = [], follows }], at) => [
          ...missing(freezes, (name) => resultOf(hook).has(name)),
          follows !== undefined && !Object.keys(hook.merge).slice(0, at).includes(follows) && `${field} follows ${follows}`,
        ]),
      ),
    ).toEqual([]);
  });

  it("asks with at most one field, for parameters of the event that are merged before it", () => {
    expect(
      breaches((hook) => {
        const fields = Object.entries(hook.merge);
        const asking = fields.flatMap(([, { rule }], at) => (rule === "each" ? at : []));
        const approved = fields.flatMap(([field, { approved: isApproved }], at) => (isApproved ? [[field, at] as const] : []));
        return [
          asking.length > 1 && "asks with several fields",
          ...approved.map(([field, at]) => (field !== "params" || asking.length === 0 || at > asking[0]!) && `${field} is approved`),
          ...asking.map(() => !has(schemasOf.get(hook)!.event, "params") && "asks without params"),
        ];
      }),
    ).toEqual([]);
  });

  it("ranks all values of the field, and only with the rule rank", () => {
    expect(
      breaches((hook) =>
        Object.entries(hook.merge).map(([field, { rule, ranks }]) => {
          const values = ranks?.map((value) => JSON.stringify(value)).join(" | ");
          return values !== (rule === "rank" ? resultOf(hook).get(field) : undefined) && field;
        }),
      ),
    ).toEqual([]);
  });

  it("can end a run if it is a gate or a claim, and not if it is another kind but sync", () => {
    const ends = new Set<HookKind>(["gate", "claim"]);
    expect(breaches(({ kind, terminal }) => [kind !== "sync" && ends.has(kind) !== (terminal !== undefined) && kind])).toEqual([]);
  });

  it("ends a run by a value that a field of its result can have, and explains it by a text", () => {
    expect(
      breaches((hook) => {
        if (!hook.terminal) return [];
        const { field, equals = true, reason } = hook.terminal;
        const types = resultOf(hook).get(field)?.split(" | ") ?? [];
        const fits = types.includes(JSON.stringify(equals)) || (equals === true && types.includes("boolean"));
        return [!fits && field, reason !== undefined && resultOf(hook).get(reason) !== "string" && reason];
      }),
    ).toEqual([]);
  });

  it("compares, fills, hides and echoes only what is declared", () => {
    expect(
      breaches((hook) => {
        const { event, context } = schemasOf.get(hook)!;
        return [
          ...Object.values(hook.filters ?? {}).map(({ from, field }) => !has({ event, context }[from], field) && field),
          ...missing(Object.keys(hook.fills ?? {}), (field) => has(event, field)),
          ...missing(Object.values(hook.fills ?? {}), (field) => has(context, field)),
          ...missing(hook.hides ?? [], (path) => has(event, path)),
          ...missing(hook.echo ? [hook.echo] : [], (field) => has(event, field) && resultOf(hook).has(field)),
          ...missing(hook.authority ? [hook.authority.context] : [], (field) => has(context, field)),
          ...missing([...(hook.promptFields ?? []), ...(hook.authority?.keeps ?? [])], (field) => resultOf(hook).has(field)),
        ];
      }),
    ).toEqual([]);
  });

  it("declares what is live in OpenClaw, and says what becomes of it", () => {
    expect(
      breaches((hook) => {
        const { event, context, result } = schemasOf.get(hook)!;
        return Object.entries(hook.live ?? {}).flatMap(([path, sentence]) => [
          ![event, context, result ?? {}].some((schema) => has(schema, path)) && path,
          !/^(absent|given): .*[^.]$/.test(sentence) && sentence,
        ]);
      }),
    ).toEqual([]);
  });
});

const parse = (name: HookName, value: unknown) => (CATALOG[name] as AnyHook).result.safeParse(value);

/** The answers of several handlers, highest priority first, as one result. */
function merged(name: HookName, ...answers: Fields[]): Fields | undefined {
  const hook: AnyHook = CATALOG[name];
  return answers.reduce((state, answer) => merge(hook, state, hook.result.parse(answer) as Fields, BY), start({}) as Merged).result;
}

const revise = (reason: string) => ({ action: "revise", reason });
const retry = (instruction: unknown) => ({ action: "revise", retry: { instruction } });
const ready = (threadBindingReady: boolean) => ({ status: "ok", threadBindingReady });

describe("results, cleaned and merged", () => {
  it.each([
    null,
    {},
    { outcome: "maybe" },
    { outcome: "pass", note: 1 },
    { outcome: "block" },
    { outcome: "block", reason: "r", extra: 1 },
  ])("before_agent_run takes %j for an invalid decision", (answer) => {
    expect(parse("before_agent_run", answer).success).toBe(false);
  });

  it("before_agent_finalize: finalize beats revise beats continue, and the reasons to revise are joined", () => {
    expect(merged("before_agent_finalize", revise("a"), revise("b"))).toEqual({ action: "revise", reason: "a\n\nb" });
    expect(merged("before_agent_finalize", revise("a"), { action: "finalize", reason: "f" })).toEqual({ action: "finalize", reason: "f" });
    expect(merged("before_agent_finalize", { action: "finalize" }, revise("b"))).toEqual({ action: "finalize" });
    expect(merged("before_agent_finalize", { action: "continue" }, revise("b"))).toEqual({ action: "revise", reason: "b" });
    expect(merged("before_agent_finalize", revise("a"), { action: "continue" })).toEqual({ action: "revise", reason: "a" });
  });

  it("before_agent_finalize: instructions are trimmed, blank and malformed ones dropped, the first that is left wins", () => {
    expect(merged("before_agent_finalize", retry("  "), retry(5), retry(" do it "), retry("again"))).toEqual({
      action: "revise",
      retry: { instruction: "do it" },
    });
  });

  it("subagent_spawning: an error sticks, and readiness is any", () => {
    expect(merged("subagent_spawning", ready(false), ready(true), ready(false))).toEqual(ready(true));
    expect(merged("subagent_spawning", { status: "ok" }, { status: "error", error: "e" }, { status: "error", error: "f" })).toEqual({
      status: "error",
      error: "e",
    });
  });

  it("resolve_exec_env: later handlers override single variables", () => {
    expect(merged("resolve_exec_env", { X: "1", Y: "1" }, { Y: "2" })).toEqual({ X: "1", Y: "2" });
    expect(parse("resolve_exec_env", { X: 1 }).success).toBe(false);
  });

  it.each(
    words(`PATH Path LD_PRELOAD DYLD_INSERT_LIBRARIES NODE_OPTIONS node_options NODE_PATH HTTP_PROXY https_proxy All_Proxy
    no_proxy BASH_ENV ENV GIT_SSH_COMMAND PYTHONPATH SSL_CERT_FILE HOME BASH_FUNC_ls%% A=B 1X`),
  )("resolve_exec_env: %s is the host's", (name) => {
    expect(isHostCritical(name)).toBe(true);
    expect(merged("resolve_exec_env", { [name]: "x", MINE: "y" })).toEqual({ MINE: "y" });
  });

  it.each(words("MINE API_KEY PATH_PREFIX MY_NODE_NAME GITHUB_TOKEN PROXY_MODE ENVIRONMENT"))("resolve_exec_env: %s may be set", (name) => {
    expect(isHostCritical(name)).toBe(false);
  });

  it("reply_payload_sending: the trust flag cannot be granted", () => {
    expect(parse("reply_payload_sending", { payload: { text: "t", trustedLocalMedia: true } }).data).toEqual({ payload: { text: "t" } });
  });

  it("before_dispatch: without a claim only the rewrite counts", () => {
    expect(parse("before_dispatch", { handled: false, text: "t" }).data).toBeUndefined();
    expect(parse("before_dispatch", { handled: false, text: "t", content: "c" }).data).toEqual({ content: "c" });
    expect(merged("before_dispatch", { content: "c" }, { handled: true, text: "t" })).toEqual({ content: "c", handled: true, text: "t" });
  });

  it("reply_dispatch: a claim says what was delivered, a refusal need not", () => {
    expect(parse("reply_dispatch", { handled: false }).success).toBe(true);
    expect(parse("reply_dispatch", { handled: true }).success).toBe(false);
  });

  it("agent:bootstrap: files are replaced for those who come later, and nothing else of the context is", () => {
    const hook = CATALOG["agent:bootstrap"];
    const answer = hook.result.parse({ context: { bootstrapFiles: [{ name: "A" }], workspaceDir: "/evil" } });
    const { event } = merge(hook, start({ context: { workspaceDir: "/w", bootstrapFiles: [] } }) as Merged, answer, BY);
    expect(event).toEqual({ context: { workspaceDir: "/w", bootstrapFiles: [{ name: "A" }] } });
  });

  it("command:new: every handler's messages are kept", () => {
    expect(merged("command:new", { messages: ["a"] }, { messages: ["b"] })).toEqual({ messages: ["a", "b"] });
  });
});

const takes = (name: HookName, event: unknown) => CATALOG[name].event.safeParse(event).success;

describe("the seeds' shapes", () => {
  const envelope = { type: "session", action: "end", sessionKey: "agent:main:x", timestamp: new Date() };

  it("session:end has its sessionId at the top, and says why it stopped", () => {
    expect(takes("session:end", { ...envelope, sessionId: "s", context: { stopReason: "toolUse", metadata: { workflowId: "w" } } })).toBe(
      true,
    );
    expect(takes("session:end", { ...envelope, context: { stopReason: "stop", sessionId: "s" } })).toBe(false);
    expect(takes("session:end", { ...envelope, sessionId: "s", context: { stopReason: "bored" } })).toBe(false);
  });

  it.each([
    ["start", "args"],
    ["update", "partialResult"],
    ["result", "result"],
  ] as const)("tool:%s carries %s", (action, field) => {
    const context = { runId: "r", toolName: "exec", toolCallId: "c", meta: {}, sessionMeta: { agentId: "main", platform: "discord" } };
    const event = { type: "tool", action, sessionKey: "agent:main:discord:channel:1", context: { ...context, [field]: { any: 1 } } };
    expect(takes(`tool:${action}`, event)).toBe(true);
    expect(takes(`tool:${action}`, { ...event, context: { ...context, toolCallId: undefined } })).toBe(false);
    const shape = fieldsOf(jsonSchema(CATALOG[`tool:${action}`].event.shape.context)).map(({ name }) => name);
    expect(shape).toContain(field);
  });

  it("a timestamp is a date, a text or a number", () => {
    for (const timestamp of [new Date(), "2026-05-03T00:00:00Z", 1_777_000_000_000, undefined]) {
      expect(takes("command:stop", { type: "command", action: "stop", sessionKey: "k", timestamp, context: {} })).toBe(true);
    }
  });
});

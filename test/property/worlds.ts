/** Random worlds (plugins, handlers, priorities, lanes, policies) and random runs in them, for rules.test.ts. */
import * as fc from "fast-check";
import * as z from "zod";
import { CATALOG, defineHook } from "creel";
import type { HookDefinition, PluginSpec } from "creel";
import type { Act, ModelHandler, Step } from "./model.ts";

const loose = z.looseObject({});
const bag = z.record(z.string(), z.unknown());

/** Hooks that use every merge rule, every kind and every decision that the catalog's own do not. */
export const OWN = {
  test_rules: defineHook({
    name: "test_rules",
    kind: "modify",
    summary: "Every merge rule.",
    event: z.looseObject({ text: z.string(), base: bag }),
    context: loose,
    result: z.object({
      head: z.string().optional(),
      tail: z.string().optional(),
      sure: z.boolean().optional(),
      said: z.string().optional(),
      only: z.array(z.string()).optional(),
      list: z.array(z.unknown()).optional(),
      base: bag.optional(),
      loose: bag.optional(),
      text: z.string().optional(),
      lock: z.string().optional(),
      vote: z.enum(["low", "mid", "top"]).optional(),
      because: z.string().optional(),
    }),
    merge: {
      head: { rule: "first" },
      tail: { rule: "last" },
      sure: { rule: "any" },
      said: { rule: "join", chains: "said" },
      only: { rule: "intersect" },
      list: { rule: "append" },
      base: { rule: "assign", chains: "base" },
      loose: { rule: "assign" },
      text: { rule: "last", chains: "text" },
      lock: { rule: "first", freezes: ["text", "base"] },
      vote: { rule: "rank", ranks: ["low", "mid", "top"] },
      because: { rule: "join", follows: "vote" },
    },
  }),
  test_abort: defineHook({
    name: "test_abort",
    kind: "gate",
    summary: "A gate that aborts.",
    event: z.looseObject({ text: z.string() }),
    context: loose,
    result: z.object({ abort: z.boolean().optional(), why: z.string().optional(), text: z.string().optional() }),
    merge: { abort: { rule: "any" }, why: { rule: "join" }, text: { rule: "last", chains: "text" } },
    terminal: { field: "abort", decision: "abort", reason: "why" },
    failure: "closed",
  }),
  test_write: defineHook({
    name: "test_write",
    kind: "sync",
    summary: "A synchronous gate, as before_message_write is.",
    event: z.looseObject({ message: bag }),
    context: loose,
    result: z.object({ block: z.boolean().optional(), message: bag.optional() }),
    merge: { block: { rule: "any" }, message: { rule: "last", chains: "message" } },
    terminal: { field: "block", decision: "block" },
    echo: "message",
  }),
} as const;

/** At least one hook of every kind. */
const NAMES = [
  "before_prompt_build",
  "before_agent_reply",
  "agent_end",
  "before_tool_call",
  "tool_result_persist",
  "message_sending",
  "session:patch",
  "beforeTurn",
] as const;
export const HOOKS: Readonly<Record<string, HookDefinition>> = {
  ...Object.fromEntries(NAMES.map((name) => [name, CATALOG[name]])),
  ...OWN,
};

const KEYS = [...Object.keys(HOOKS), "session"];
const PRIORITIES = [undefined, undefined, 0, 1, -1, 5, 0.5, 100];

export interface World {
  readonly lanes: number;
  readonly plugins: readonly { readonly id: string; readonly handlers: readonly ModelHandler[] }[];
  readonly failure: Readonly<Record<string, "open" | "closed">>;
}

const handler = fc.record({
  key: fc.constantFrom(...KEYS),
  priority: fc.constantFrom(...PRIORITIES),
  matcher: fc.option(fc.constantFrom(["read"], ["READ", "exec"], ["exec"]), { nil: undefined, freq: 6 }),
});

export const world: fc.Arbitrary<World> = fc
  .record({
    lanes: fc.integer({ min: 1, max: 4 }),
    plugins: fc.array(fc.array(handler, { minLength: 8, maxLength: 24, size: "max" }), { minLength: 3, maxLength: 6, size: "max" }),
    failure: fc.dictionary(fc.constantFrom(...Object.keys(HOOKS)), fc.constantFrom("open" as const, "closed" as const), { maxKeys: 4 }),
  })
  .map(({ lanes, plugins, failure }) => ({
    lanes,
    failure,
    plugins: plugins.map((handlers, pluginOrder) => ({
      id: `p${pluginOrder}`,
      handlers: handlers.map((entry, order) => ({
        ...entry,
        id: `p${pluginOrder}h${order}`,
        plugin: `p${pluginOrder}`,
        pluginOrder,
        order,
      })),
    })),
  }));

/** Does inside the isolate what the model says it does. */
const SOURCE = `
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const THROWS = {
  error: () => { throw new Error("e"); }, null: () => { throw null; }, undefined: () => { throw undefined; }, text: () => { throw "t"; }, symbol: () => { throw Symbol("s"); },
  type: () => null.x, proxy: () => { throw new Proxy({}, { get() { throw 1; } }); }, deep: () => { const f = () => f() + 1; return f(); },
};
const GARBAGE = {
  number: () => 5, text: () => "t", list: () => [], true: () => true, function: () => () => {}, symbol: () => Symbol("s"), bigint: () => 5n,
  cycle: () => { const o = {}; o.o = o; return o; }, toJSON: () => ({ toJSON() { throw new Error("no"); } }), getter: () => ({ get content() { throw 1; }, get block() { throw 1; } , get message() { throw 1; }, get handled() { throw 1; }, get text() { throw 1; }, get prependContext() { throw 1; } }),
};
function fill(template, event) {
  if (Array.isArray(template)) return template.map((item) => fill(item, event));
  if (typeof template !== "object" || template === null) return template;
  if (template.$plus) return String(event[template.$plus[0]]) + template.$plus[1];
  if (template.$keys) return Object.keys(event[template.$keys] ?? {}).sort().join();
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fill(value, event)]));
}
function act(step, event) {
  switch (step.do) {
    case "nothing": return undefined;
    case "null": return null;
    case "mutate": for (const key of ["message", "params", "context", "base"]) if (event[key]) event[key].mutated = true; if (typeof event.content === "string") event.content += "mutated"; return undefined;
    case "result": return fill(step.value, event);
    case "throw": return THROWS[step.kind]();
    case "garbage": return GARBAGE[step.kind]();
  }
}
function perform({ how, act: step, ms }, event) {
  switch (how) {
    case "direct": return act(step, event);
    case "async": return (async () => act(step, event))();
    case "microtasks": return (async () => { await null; await null; return act(step, event); })();
    case "timer": return (async () => { await wait(ms); return act(step, event); })();
    case "thenable": return { then(resolve, reject) { try { resolve(act(step, event)); } catch (error) { reject(error); } } };
  }
}
export default (api) => {
  for (const { id, key, options } of api.pluginConfig.handlers)
    api.on(key, (event) => { const step = event.script[id]; if (step) return perform(step, event); }, options);
};`;

export function pluginsOf({ plugins }: World): PluginSpec[] {
  return plugins.map(({ id, handlers }) => ({
    id,
    source: SOURCE,
    hooks: { allowConversationAccess: true, allowInstallDecisions: true, cpuMs: 2_000 },
    config: {
      handlers: handlers.map(({ id: name, key, priority, matcher }) => ({
        id: name,
        key,
        options: { ...(priority !== undefined && { priority }), ...(matcher && { matcher }) },
      })),
    },
  }));
}

export interface RandomRun {
  readonly hook: string;
  readonly event: Record<string, unknown>;
  readonly script: Readonly<Record<string, Step>>;
  /** Sync hooks: through runSync. */
  readonly isBlocking: boolean;
}

const word = fc.constantFrom("a", "b", "c", "", "x y", "ü😀", "__proto__");
const text = (chained: string) => fc.oneof(word, fc.record({ $plus: fc.tuple(fc.constant(chained), word) }));
const flag = fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
const tools = fc.subarray(["read", "exec", "web"]);
const record = (chained: string) =>
  fc.dictionary(
    fc.constantFrom("a", "b", "c", "constructor"),
    fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.record({ $keys: fc.constant(chained) })),
    { maxKeys: 3 },
  );
const approval = fc.record(
  {
    title: fc.constantFrom("t", "other"),
    description: fc.constantFrom("allow-once", "allow-always", "deny", "null", "throw", "nonsense"),
    pluginId: fc.constant("evil"),
    allowedDecisions: fc.subarray(["allow-once", "allow-always", "deny"]),
    severity: fc.constantFrom("info", "fatal"),
  },
  { requiredKeys: ["title", "description"] },
);
const junk = fc.constantFrom(5, null, "junk", [], { a: 1 }, true);

const FIELDS: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<unknown>>>>> = {
  before_prompt_build: {
    systemPrompt: text("prompt"),
    prependContext: word,
    appendContext: word,
    prependSystemContext: word,
    appendSystemContext: word,
    toolsAllow: fc.oneof(tools, junk),
  },
  before_agent_reply: { handled: flag, reply: record("none"), reason: word },
  agent_end: { anything: word },
  before_tool_call: { params: record("params"), block: flag, blockReason: word, requireApproval: approval },
  tool_result_persist: { message: record("message") },
  message_sending: { content: text("content"), cancel: flag, cancelReason: text("content"), metadata: record("metadata") },
  "session:patch": { anything: word },
  beforeTurn: { abort: flag, reason: word },
  test_rules: {
    head: text("text"),
    tail: text("said"),
    sure: flag,
    said: text("text"),
    only: tools,
    list: fc.array(word, { maxLength: 2 }),
    base: record("base"),
    loose: record("base"),
    text: text("text"),
    lock: word,
    vote: fc.constantFrom("low", "mid", "top"),
    because: word,
  },
  test_abort: { abort: flag, why: text("text"), text: text("text") },
  test_write: { block: flag, message: record("message") },
};

const EVENTS: Readonly<Record<string, fc.Arbitrary<Record<string, unknown>>>> = {
  before_prompt_build: fc.record({ prompt: word, messages: fc.constant([]) }),
  before_agent_reply: fc.record({ cleanedBody: word }),
  agent_end: fc.record({ messages: fc.constant([{ role: "user" }]), success: fc.boolean() }),
  before_tool_call: fc.record({
    toolName: fc.constantFrom("read", "Exec", "web"),
    params: fc.dictionary(fc.constantFrom("a", "z"), fc.jsonValue({ maxDepth: 1 })),
  }),
  tool_result_persist: fc.record({ message: fc.dictionary(fc.constantFrom("a", "z"), word) }),
  message_sending: fc.record({ to: word, content: word, metadata: fc.constant({ m: 1 }) }),
  "session:patch": fc.constant({ type: "session", action: "patch", sessionKey: "k", context: { sessionEntry: {}, patch: { key: "k" } } }),
  beforeTurn: fc.constant({ sessionKey: "k", agentId: "main", workflow: "agent" }),
  test_rules: fc.record({ text: word, base: fc.dictionary(fc.constantFrom("a", "z"), word) }),
  test_abort: fc.record({ text: word }),
  test_write: fc.record({ message: fc.dictionary(fc.constantFrom("a", "z"), word) }),
};

const result = (hook: string): fc.Arbitrary<unknown> => {
  const fields = FIELDS[hook]!;
  const valid = fc.record({ ...fields, stranger: fc.constant(1) }, { requiredKeys: [] });
  const spoilt = fc
    .tuple(valid, fc.constantFrom(...Object.keys(fields)), junk)
    .map(([value, field, wrong]) => ({ ...(value as object), [field]: wrong }));
  return fc.oneof({ weight: 12, arbitrary: valid }, { weight: 1, arbitrary: spoilt });
};

const act = (hook: string): fc.Arbitrary<Act> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom({ do: "nothing" as const }, { do: "null" as const }, { do: "mutate" as const }) },
    { weight: 8, arbitrary: result(hook).map((value) => ({ do: "result" as const, value })) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("error", "null", "undefined", "text", "symbol", "type", "proxy", "deep")
        .map((kind) => ({ do: "throw" as const, kind })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("number", "text", "list", "true", "function", "symbol", "bigint", "cycle", "toJSON")
        .map((kind) => ({ do: "garbage" as const, kind })),
    },
  );

const how = fc.oneof(
  { weight: 6, arbitrary: fc.constant("direct" as const) },
  { weight: 3, arbitrary: fc.constantFrom("async" as const, "microtasks" as const, "thenable" as const) },
  { weight: 1, arbitrary: fc.constant("timer" as const) },
);

/** A run of any hook, with a script for the handlers that listen to it. */
export function randomRun({ plugins }: World): fc.Arbitrary<RandomRun> {
  const all = plugins.flatMap(({ handlers }) => handlers);
  return fc.constantFrom(...Object.keys(HOOKS)).chain((hook) => {
    const ids = all.filter(({ key }) => key === hook || (key === "session" && hook === "session:patch")).map(({ id }) => id);
    const isSync = HOOKS[hook]!.kind === "sync";
    // On synchronous hooks a promise is only ever a failure: one in ten is enough.
    const step = fc.record({
      how: isSync ? fc.oneof({ weight: 9, arbitrary: fc.constant("direct" as const) }, { weight: 1, arbitrary: how }) : how,
      act: act(hook),
      ms: fc.integer({ min: 0, max: 4 }),
    });
    const script = ids.length === 0 ? fc.constant({}) : fc.record(Object.fromEntries(ids.map((id) => [id, step])), { requiredKeys: [] });
    return fc.record({ hook: fc.constant(hook), event: EVENTS[hook]!, script, isBlocking: isSync ? fc.boolean() : fc.constant(false) });
  });
}

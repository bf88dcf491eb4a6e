/** Trusted side: checks the gateway's event and context and serialises them, once per run. `run` rejects for these mistakes only. */
import { acceptsOf } from "../../protocol/rules/compiled-check.ts";
import type { Accepts } from "../../protocol/rules/compiled-check.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Fields } from "../../protocol/rules/merge.ts";
import { firstIssue } from "../../text/schema-issue.ts";

export interface Prepared {
  readonly event: Fields;
  readonly context: Fields;
  readonly eventText: string;
  readonly contextText: string;
}

const NONE: Fields = Object.freeze({});

/** The text of an empty context. */
export const NO_CONTEXT = "{}";

/** What a hook's definition says about events and contexts, computed once: every call reads it. */
interface Rules {
  readonly acceptsEvent: Accepts;
  readonly acceptsContext: Accepts;
  /** Is an empty context invalid? */
  readonly needsContext: boolean;
  readonly contextFrom: readonly (readonly [field: string, path: readonly string[]])[];
  readonly agrees: readonly string[];
  readonly live: readonly string[];
  readonly fills: readonly (readonly [field: string, from: string])[];
  readonly hides: readonly (readonly string[])[];
}

const known = new WeakMap<AnyHook, Rules>();

function rulesOf(hook: AnyHook): Rules {
  let rules = known.get(hook);
  if (!rules) {
    const { event, context, contextFrom = {}, agrees = [], live = {}, fills = {}, hides = [] } = hook;
    const acceptsContext = acceptsOf(context);
    rules = {
      acceptsEvent: acceptsOf(event),
      acceptsContext,
      needsContext: !acceptsContext(NONE),
      contextFrom: Object.entries(contextFrom).map(([field, path]) => [field, path.split(".")]),
      agrees,
      live: Object.keys(live),
      fills: Object.entries(fills),
      hides: hides.map((path) => path.split(".")),
    };
    known.set(hook, rules);
  }
  return rules;
}

export function prepare(hook: AnyHook, handedOver: unknown, givenContext: unknown): Prepared {
  const rules = rulesOf(hook);
  const given = hook.internal ? enveloped(handedOver) : handedOver;
  if (!rules.acceptsEvent(given)) refuseEvent(hook, given);
  let context = NONE;
  let contextText = NO_CONTEXT;
  if (givenContext !== undefined || rules.needsContext || rules.contextFrom.length > 0) {
    context = (givenContext === undefined ? fromEvent(rules, given as Fields) : givenContext) as Fields;
    // SECURITY: no plugin sees a context that its types exclude. test/contract/context-from-event.test.ts
    if (!rules.acceptsContext(context)) refuseContext(hook, context, givenContext === undefined);
    for (const field of rules.agrees) checkSame(hook, field, given as Fields, context);
    contextText = toJson(hook, without(context, rules.live));
  }
  const event = adapt(rules, given as Fields, context);
  const eventText = toJson(hook, event);
  const bytes = byteLength(eventText) + byteLength(contextText);
  if (bytes > LIMITS.call.eventBytes) throw new CreelError("ERR_EVENT_SIZE", { hook: hook.name, bytes, limit: LIMITS.call.eventBytes });
  return { event, eventText, context, contextText };
}

/** Throws, unless zod accepts the event after all; zod also words the error. */
function refuseEvent({ name, event }: AnyHook, given: unknown): void {
  const checked = event.safeParse(given);
  if (!checked.success) throw new CreelError("ERR_EVENT_INVALID", { hook: name, ...firstIssue(checked.error) });
}

/** The same for a context; the error says where the field would have come from. */
function refuseContext({ name, context, contextFrom }: AnyHook, given: unknown, isLeftOut: boolean): void {
  const checked = context.safeParse(given);
  if (checked.success) return;
  const { field, detail } = firstIssue(checked.error);
  const path = contextFrom?.[field];
  const source = !isLeftOut
    ? path !== undefined && `; a context that is left out takes it from event.${path}`
    : path === undefined
      ? "; the context was left out, and no field of the event stands for it"
      : `; the context was left out, and it would be taken from event.${path}`;
  throw new CreelError("ERR_CONTEXT_INVALID", { hook: name, field, detail, source: source || "" });
}

function checkSame({ name }: AnyHook, field: string, event: Fields, context: Fields): void {
  if (context[field] === event[field] || context[field] === undefined || event[field] === undefined) return;
  const detail = `it differs from event.${field}, and plugins look at either`;
  throw new CreelError("ERR_CONTEXT_INVALID", { hook: name, field, detail, source: "" });
}

/** The context when the gateway passes none. */
function fromEvent({ contextFrom }: Rules, event: Fields): Fields {
  const context: Fields = {};
  for (const [field, path] of contextFrom) {
    let value: unknown = event;
    for (const name of path) value = member(value, name);
    if (value !== undefined) context[field] = value;
  }
  return context;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Fields)[name] : undefined;
}

/** An internal event with the fields that OpenClaw adds to each of them. */
function enveloped(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  const { context = {}, messages = [], timestamp = new Date() } = given as Fields;
  return { ...given, context, messages, timestamp };
}

/** The event as plugins see it: filled from the context, without hidden and live fields. */
function adapt({ fills, hides, live }: Rules, given: Fields, context: Fields): Fields {
  let event = given;
  for (const [field, from] of fills) {
    if (event[field] === undefined && context[from] !== undefined) event = { ...event, [field]: context[from] };
  }
  event = without(event, live);
  for (const path of hides) event = withoutPath(event, path);
  return event;
}

function without(fields: Fields, names: readonly string[]): Fields {
  for (const name of names)
    if (fields[name] !== undefined) return Object.fromEntries(Object.entries(fields).filter(([field]) => !names.includes(field)));
  return fields;
}

function withoutPath(fields: Fields, [first, ...rest]: readonly string[]): Fields {
  const inner = fields[first!];
  if (inner === undefined) return fields;
  if (rest.length === 0) return without(fields, [first!]);
  return typeof inner === "object" && inner !== null ? { ...fields, [first!]: withoutPath(inner as Fields, rest) } : fields;
}

/** Counting is only worth it near the limit: a character takes at most three bytes. */
function byteLength(text: string): number {
  return text.length * 3 < LIMITS.call.eventBytes / 2 ? text.length : Buffer.byteLength(text);
}

function toJson(hook: AnyHook, value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new CreelError("ERR_EVENT_NOT_JSON", { hook: hook.name, detail: (error as Error).message });
  }
}

/** Trusted side: checks what the gateway hands over and writes it as JSON, once per run. The only mistakes `run` rejects for. */
import { acceptsOf } from "../../protocol/accepts.ts";
import type { Accepts } from "../../protocol/accepts.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Fields } from "../../protocol/merge.ts";
import { firstIssue } from "../issues.ts";

export interface Prepared {
  readonly event: Fields;
  readonly context: Fields;
  readonly eventText: string;
  readonly contextText: string;
}

const NONE: Fields = Object.freeze({});

/** The text of a context that was not given, or that nobody can see. */
export const NO_CONTEXT = "{}";

/** What a hook's definition says about events and contexts, worked out once: on the path of every call. */
interface Rules {
  readonly acceptsEvent: Accepts;
  readonly acceptsContext: Accepts;
  readonly live: readonly string[];
  readonly fills: readonly (readonly [field: string, from: string])[];
  readonly hides: readonly (readonly string[])[];
}

const known = new WeakMap<AnyHook, Rules>();

function rulesOf(hook: AnyHook): Rules {
  let rules = known.get(hook);
  if (!rules) {
    const { event, context, live = {}, fills = {}, hides = [] } = hook;
    rules = {
      acceptsEvent: acceptsOf(event),
      acceptsContext: acceptsOf(context),
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
  if (!rules.acceptsEvent(given)) refuse("ERR_EVENT_INVALID", hook, hook.event, given);
  let context = NONE;
  let contextText = NO_CONTEXT;
  if (givenContext !== undefined) {
    if (!rules.acceptsContext(givenContext)) refuse("ERR_CONTEXT_INVALID", hook, hook.context, givenContext);
    context = givenContext as Fields;
    contextText = toJson(hook, without(context, rules.live));
  }
  const event = adapt(rules, given as Fields, context);
  const eventText = toJson(hook, event);
  const bytes = byteLength(eventText) + byteLength(contextText);
  if (bytes > LIMITS.eventBytes) throw new CreelError("ERR_EVENT_SIZE", { hook: hook.name, bytes, limit: LIMITS.eventBytes });
  return { event, eventText, context, contextText };
}

/** Unless zod sees it otherwise, who also finds the words. */
function refuse(code: "ERR_EVENT_INVALID" | "ERR_CONTEXT_INVALID", { name }: AnyHook, schema: AnyHook["event"], value: unknown): void {
  const checked = schema.safeParse(value);
  if (!checked.success) throw new CreelError(code, { hook: name, ...firstIssue(checked.error) });
}

/** An internal event with what OpenClaw puts into each of them. */
function enveloped(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  const { context = {}, messages = [], timestamp = new Date() } = given as Fields;
  return { ...given, context, messages, timestamp };
}

/** The event as plugins see it: filled from the context, without what is hidden or live. */
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
  return text.length * 3 < LIMITS.eventBytes / 2 ? text.length : Buffer.byteLength(text);
}

function toJson(hook: AnyHook, value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new CreelError("ERR_EVENT_NOT_JSON", { hook: hook.name, detail: (error as Error).message });
  }
}

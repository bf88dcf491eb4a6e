/**
 * The merge rules as pure functions over plain, validated data. The host runs them. The lane's chain rule only predicts
 * them.
 */
import { WHOLE } from "../hooks/define.ts";
import type { AnyHook, FieldMerge } from "../hooks/define.ts";

export type Fields = Record<string, unknown>;

/** The handler that an answer comes from, as far as the rules need to know it. */
export interface Answerer {
  readonly plugin: { readonly id: string };
}

/** Approvals that handlers request (the rule `each`), and later changes. Both in the order of the handlers. */
export interface Asked<By extends Answerer = Answerer> {
  readonly requests: readonly { readonly by: By; readonly value: Fields }[];
  readonly changes: readonly Change<By>[];
}

/** A change of the value that the user approves (`approved`). */
export interface Change<By extends Answerer = Answerer> {
  readonly by: By;
  readonly before: unknown;
  readonly after: unknown;
  /** How many requests came before it. */
  readonly requestCount: number;
}

/** The outcome of a run so far. */
export interface Merged<By extends Answerer = Answerer> {
  readonly event: Fields;
  readonly result: Fields | undefined;
  readonly frozen: ReadonlySet<string>;
  /** Undefined: no handler requests an approval. */
  readonly asked: Asked<By> | undefined;
}

export function start(event: Fields): Merged<never> {
  return { event, result: undefined, frozen: NONE, asked: undefined };
}

const NONE: ReadonlySet<string> = new Set();

/** Merges one handler's validated result into the state. */
export function merge<By extends Answerer>(hook: AnyHook, state: Merged<By>, answer: Fields, by: By): Merged<By> {
  const result: Fields = { ...state.result };
  let { event, frozen, asked } = state;
  for (const [field, rule] of Object.entries(hook.merge)) {
    if (field === WHOLE) return { event, frozen, asked, result: combine(rule, state.result, answer, event) as Fields };
    if (rule.follows !== undefined) {
      const winner = result[rule.follows];
      if (answer[rule.follows] !== winner) continue;
      // A new winner starts from nothing.
      if (state.result?.[rule.follows] !== winner) delete result[field];
    }
    let value = answer[field];
    if (value === undefined || state.frozen.has(field)) continue;
    if (rule.stamps) value = { ...(value as Fields), [rule.stamps]: by.plugin.id };
    if (rule.rule === "each") asked = withRequest(asked, by, value as Fields);
    else {
      const before = result[field];
      result[field] = combine(rule, before, value, event);
      if (asked && rule.approved) asked = withChange(asked, by, before, result[field]);
    }
    if (rule.chains) event = { ...event, [rule.chains]: result[field] };
    if (rule.freezes) frozen = new Set([...frozen, ...rule.freezes]);
  }
  return { event, result, frozen, asked };
}

function withRequest<By extends Answerer>(asked: Asked<By> | undefined, by: By, value: Fields): Asked<By> {
  return { requests: [...(asked?.requests ?? []), { by, value }], changes: asked?.changes ?? [] };
}

function withChange<By extends Answerer>({ requests, changes }: Asked<By>, by: By, before: unknown, after: unknown): Asked<By> {
  return { requests, changes: [...changes, { by, before, after, requestCount: requests.length }] };
}

function combine({ rule, chains, ranks = [] }: FieldMerge, before: unknown, value: unknown, event: Fields): unknown {
  switch (rule) {
    case "last":
      return value;
    case "first":
      return before === undefined ? value : before;
    case "any":
      return before === true || value === true;
    case "assign":
      return { ...((before ?? (chains && event[chains])) as Fields | undefined), ...(value as Fields) };
    case "join":
      return joined(before, value);
    case "append":
      return before === undefined ? value : [...(before as unknown[]), ...(value as unknown[])];
    case "intersect":
      return before === undefined ? value : common(before as unknown[], value as unknown[]);
    case "each":
      return value;
    case "rank":
      return ranks.indexOf(value as string) > ranks.indexOf(before as string) ? value : before;
    default:
      return rule satisfies never;
  }
}

/** By `+`, which does not copy: hundreds of handlers may add to a long text. */
function joined(before: unknown, value: unknown): string {
  if (typeof before !== "string" || before === "") return typeof value === "string" ? value : "";
  return typeof value === "string" && value !== "" ? before + "\n\n" + value : before;
}

/** By a set: two lists of twenty thousand names would take half a second of the gateway otherwise. */
function common(before: readonly unknown[], value: readonly unknown[]): unknown[] {
  const known = new Set(value);
  return before.filter((item) => known.has(item));
}

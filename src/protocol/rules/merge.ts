/**
 * The merge rules as pure functions over plain, validated data. The host runs them. The lane's chain rule only predicts
 * them.
 */
import { WHOLE } from "../hooks/define.ts";
import type { AnyHook, FieldMerge } from "../hooks/define.ts";
import { isSame } from "./is-same.ts";

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

/** A change of the value that the user approves (`approved`): an answer that changes nothing is none. */
export interface Change<By extends Answerer = Answerer> {
  readonly by: By;
  /** The keys that it changed, with what they are now. */
  readonly changed: readonly (readonly [key: string, value: unknown])[];
  /** The keys that are gone. */
  readonly removed: readonly string[];
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

/** Objects that a run has made itself. It may change them, as long as it needs no state but the latest. */
export type Own = Set<unknown>;

/**
 * Merges one handler's validated result into the state. With `own`, what is assigned to an object of the run is written into
 * it, so that many short results after a long one cost as much as they have keys. The state before is then no longer valid.
 */
export function merge<By extends Answerer>(hook: AnyHook, state: Merged<By>, answer: Fields, by: By, own?: Own): Merged<By> {
  const whole = hook.merge[WHOLE];
  if (whole) return { ...state, result: combine(whole, state.result, answer, state.event, own) as Fields };
  const result: Fields = { ...state.result };
  let { event, frozen, asked } = state;
  for (const [field, rule] of Object.entries(hook.merge)) {
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
      if (asked && rule.approved) asked = withChange(asked, by, rule, event[rule.chains ?? field], before, value);
      result[field] = combine(rule, before, value, event, own);
    }
    if (rule.chains) event = { ...event, [rule.chains]: result[field] };
    if (rule.freezes) frozen = new Set([...frozen, ...rule.freezes]);
  }
  return { event, result, frozen, asked };
}

function withRequest<By extends Answerer>(asked: Asked<By> | undefined, by: By, value: Fields): Asked<By> {
  return { requests: [...(asked?.requests ?? []), { by, value }], changes: asked?.changes ?? [] };
}

/**
 * Compares only the keys that the answer names, and those that it takes back because the rule replaces the answer before it.
 * SECURITY: not the whole value, or short answers after a long one would stall the gateway. test/host/run/approvals/changes.test.ts
 */
function withChange<By extends Answerer>(
  asked: Asked<By>,
  by: By,
  { rule }: FieldMerge,
  given: unknown,
  before: unknown,
  value: unknown,
): Asked<By> {
  const [base, standing, named] = [given ?? {}, before ?? {}, value as Fields];
  const changed: [string, unknown][] = [];
  const removed: string[] = [];
  const note = (key: string, now: { readonly value: unknown } | undefined): void => {
    const old = stands(standing, key) ?? stands(base, key);
    if (!now) removed.push(key);
    else if (!old || !isSame(old.value, now.value)) changed.push([key, now.value]);
  };
  for (const key of Object.keys(named)) note(key, { value: named[key] });
  if (rule !== "assign") for (const key of Object.keys(standing)) if (!Object.hasOwn(named, key)) note(key, stands(base, key));
  if (changed.length + removed.length === 0) return asked;
  const { requests, changes } = asked;
  return { requests, changes: [...changes, { by, changed, removed, requestCount: requests.length }] };
}

function stands(of: object, key: string): { readonly value: unknown } | undefined {
  return Object.hasOwn(of, key) ? { value: (of as Fields)[key] } : undefined;
}

function combine({ rule, chains, ranks = [] }: FieldMerge, before: unknown, value: unknown, event: Fields, own: Own | undefined): unknown {
  switch (rule) {
    case "last":
      return value;
    case "first":
      return before === undefined ? value : before;
    case "any":
      return before === true || value === true;
    case "assign":
      return assigned((before ?? (chains && event[chains])) as Fields | undefined, value as Fields, own);
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

/** Into a copy, which is then the run's own. */
function assigned(before: Fields | undefined, value: Fields, own: Own | undefined): Fields {
  if (!own) return { ...before, ...value };
  if (!before || !own.has(before)) {
    const copy = { ...before, ...value };
    own.add(copy);
    return copy;
  }
  for (const key of Object.keys(value)) {
    // SECURITY: by definition, as a spread does it; `__proto__` must stay a key. test/protocol/rules/merge.test.ts
    if (key in Object.prototype)
      Object.defineProperty(before, key, { value: value[key], writable: true, enumerable: true, configurable: true });
    else before[key] = value[key];
  }
  return before;
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

/** The merge rules as pure functions over plain, validated data. Host side; the lane's chaining is a shadow of this. */
import { WHOLE } from "./hooks/define.ts";
import type { AnyHook, FieldMerge } from "./hooks/define.ts";

export type Fields = Record<string, unknown>;

/** What a run has come to so far. */
export interface Merged {
  readonly event: Fields;
  readonly result: Fields | undefined;
  readonly frozen: ReadonlySet<string>;
}

export function start(event: Fields): Merged {
  return { event, result: undefined, frozen: NONE };
}

const NONE: ReadonlySet<string> = new Set();

/** Merges one handler's validated result into what stands. */
export function merge(hook: AnyHook, state: Merged, answer: Fields, plugin: string): Merged {
  const result: Fields = { ...state.result };
  let { event, frozen } = state;
  for (const [field, rule] of Object.entries(hook.merge)) {
    if (field === WHOLE) return { event, frozen, result: combine(rule, state.result, answer, event) as Fields };
    if (rule.follows !== undefined) {
      const winner = result[rule.follows];
      if (answer[rule.follows] !== winner) continue;
      // A new winner starts from nothing.
      if (state.result?.[rule.follows] !== winner) delete result[field];
    }
    let value = answer[field];
    if (value === undefined || state.frozen.has(field)) continue;
    if (rule.stamps) value = { ...(value as Fields), [rule.stamps]: plugin };
    result[field] = combine(rule, result[field], value, event);
    if (rule.chains) event = { ...event, [rule.chains]: result[field] };
    if (rule.freezes) frozen = new Set([...frozen, ...rule.freezes]);
  }
  return { event, result, frozen };
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
      return [before, value].filter((text) => typeof text === "string" && text !== "").join("\n\n");
    case "append":
      return before === undefined ? value : [...(before as unknown[]), ...(value as unknown[])];
    case "intersect":
      return before === undefined ? value : (before as unknown[]).filter((item) => (value as unknown[]).includes(item));
    case "rank":
      return ranks.indexOf(value as string) > ranks.indexOf(before as string) ? value : before;
    default:
      return rule satisfies never;
  }
}

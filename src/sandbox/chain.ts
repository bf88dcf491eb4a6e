/** Untrusted side: between two handlers of a chain, what the lane may decide by itself. See protocol/chain-rule.ts. */
import type { ChainRule } from "../protocol/chain-rule.ts";

export interface Chained {
  /** May the next handler run without asking the host? */
  goesOn: boolean;
  /** The event as the next handler sees it. */
  event: string;
}

export function chain(rule: ChainRule, event: string, result: string, chains: boolean): Chained {
  const stop = { goesOn: false, event };
  // An own `__proto__` key is the host's business.
  if (result === "null") return { goesOn: !rule.stopsAtNull, event };
  if (result.includes("__proto__")) return stop;
  const fields = JSON.parse(result) as unknown;
  if (typeOf(fields) !== "object") return stop;
  for (const [field, value] of Object.entries(fields as object)) {
    if (rule.fields[field] !== typeOf(value)) return stop;
    if (rule.terminal && field === rule.terminal[0] && value === rule.terminal[1]) return stop;
  }
  if (!chains || rule.chains.length === 0) return { goesOn: true, event };
  let next: Record<string, unknown> | undefined;
  for (const [field, into, how] of rule.chains) {
    const value = (fields as Record<string, unknown>)[field];
    if (value === undefined) continue;
    next ??= JSON.parse(event) as Record<string, unknown>;
    next[into] = how === "assign" ? { ...(next[into] as object), ...(value as object) } : value;
  }
  return { goesOn: true, event: next ? JSON.stringify(next) : event };
}

function typeOf(value: unknown): string {
  if (value === null || Array.isArray(value)) return "other";
  return typeof value;
}

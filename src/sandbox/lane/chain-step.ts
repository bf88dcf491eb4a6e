/**
 * Untrusted side, lane thread: between two handlers of a chain, decides whether the next one may run without asking the
 * host. protocol/rules/chain-rule.ts has the rule; the host checks every result again.
 */
import type { ChainRule } from "../../protocol/rules/chain-rule.ts";
import { fitsBytes } from "../../transport/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";

export class Chain {
  /** The event as the next handler sees it. */
  event: string;
  readonly #rule: ChainRule | undefined;
  readonly #chains: boolean;
  /** The event as an object, parsed when it is first needed. */
  #fields: Record<string, unknown> | undefined;

  constructor(rule: ChainRule | undefined, event: string, chains: boolean) {
    this.#rule = rule;
    this.event = event;
    this.#chains = chains;
  }

  /** Applies a result to the event. False: the host must check the result before the next handler runs. */
  goesOn(result: string): boolean {
    const rule = this.#rule;
    if (!rule) return false;
    if (result === "null") return !rule.stopsAtNull;
    // A result with a `__proto__` key may be an attack: the host decides.
    if (result.includes("__proto__")) return false;
    const answer = JSON.parse(result) as unknown;
    if (typeOf(answer) !== "object") return false;
    for (const field of Object.keys(answer as object)) {
      const value = (answer as Record<string, unknown>)[field];
      if (rule.fields[field] !== typeOf(value)) return false;
      if (rule.terminal && field === rule.terminal[0] && value === rule.terminal[1]) return false;
    }
    return !this.#chains || rule.chains.length === 0 || this.#rewrite(rule, answer as Record<string, unknown>);
  }

  /** False: the event has become too long for any handler. The host decides which handler failed. */
  #rewrite(rule: ChainRule, answer: Record<string, unknown>): boolean {
    let isChanged = false;
    for (const [field, into, how] of rule.chains) {
      const value = answer[field];
      if (value === undefined) continue;
      this.#fields ??= JSON.parse(this.event) as Record<string, unknown>;
      this.#fields[into] = how === "assign" ? { ...(this.#fields[into] as object), ...(value as object) } : value;
      isChanged = true;
    }
    if (!isChanged) return true;
    const event = JSON.stringify(this.#fields);
    if (!fitsBytes(event, LIMITS.call.eventBytes)) return false;
    this.event = event;
    return true;
  }
}

function typeOf(value: unknown): string {
  if (value === null || Array.isArray(value)) return "other";
  return typeof value;
}

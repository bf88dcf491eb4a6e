/** Untrusted side: between two handlers of a chain, what the lane may decide by itself. See protocol/chain-rule.ts. */
import type { ChainRule } from "../protocol/chain-rule.ts";

export class Chain {
  /** The event as the next handler sees it. */
  event: string;
  readonly #rule: ChainRule | undefined;
  readonly #chains: boolean;
  /** The same as an object, once it was needed. */
  #fields: Record<string, unknown> | undefined;

  constructor(rule: ChainRule | undefined, event: string, chains: boolean) {
    this.#rule = rule;
    this.event = event;
    this.#chains = chains;
  }

  /** Takes a result in. False: the host must look at it before anything else runs. */
  goesOn(result: string): boolean {
    const rule = this.#rule;
    if (!rule) return false;
    if (result === "null") return !rule.stopsAtNull;
    // An own `__proto__` key is the host's business.
    if (result.includes("__proto__")) return false;
    const answer = JSON.parse(result) as unknown;
    if (typeOf(answer) !== "object") return false;
    for (const field of Object.keys(answer as object)) {
      const value = (answer as Record<string, unknown>)[field];
      if (rule.fields[field] !== typeOf(value)) return false;
      if (rule.terminal && field === rule.terminal[0] && value === rule.terminal[1]) return false;
    }
    if (this.#chains && rule.chains.length > 0) this.#rewrite(rule, answer as Record<string, unknown>);
    return true;
  }

  #rewrite(rule: ChainRule, answer: Record<string, unknown>): void {
    let isChanged = false;
    for (const [field, into, how] of rule.chains) {
      const value = answer[field];
      if (value === undefined) continue;
      this.#fields ??= JSON.parse(this.event) as Record<string, unknown>;
      this.#fields[into] = how === "assign" ? { ...(this.#fields[into] as object), ...(value as object) } : value;
      isChanged = true;
    }
    if (isChanged) this.event = JSON.stringify(this.#fields);
  }
}

function typeOf(value: unknown): string {
  if (value === null || Array.isArray(value)) return "other";
  return typeof value;
}

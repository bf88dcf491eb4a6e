/**
 * Trusted side: turns that must not begin, because a hook before them failed closed and OpenClaw has nothing to block there.
 * `before_agent_run`, which comes after those hooks, refuses them.
 */
import type { Fields } from "./gateway-api.ts";

const MAX_TURNS = 1_000;

export class RefusedTurns {
  /** Why, by run or session. */
  readonly #reasons = new Map<string, string>();

  refuse(ctx: Fields, why: string): void {
    const [key] = keysOf(ctx);
    if (key === undefined) return;
    // A turn that ends before it begins leaves its entry behind.
    if (this.#reasons.size >= MAX_TURNS) this.#reasons.delete(this.#reasons.keys().next().value!);
    this.#reasons.set(key, why);
  }

  /** Undefined: it may begin. Asked once per turn. */
  reasonOf(ctx: Fields): string | undefined {
    let why: string | undefined;
    for (const key of keysOf(ctx)) {
      why ??= this.#reasons.get(key);
      this.#reasons.delete(key);
    }
    return why;
  }
}

const all = new Map<string, RefusedTurns>();

/** Those of a plugin. OpenClaw registers it several times, and may ask one instance about what another was told. */
export function refusedTurns(plugin: string): RefusedTurns {
  const known = all.get(plugin) ?? new RefusedTurns();
  all.set(plugin, known);
  return known;
}

/** Internal events know the session alone. */
function keysOf({ runId, sessionKey }: Fields): string[] {
  return [...(typeof runId === "string" ? [`run ${runId}`] : []), ...(typeof sessionKey === "string" ? [`session ${sessionKey}`] : [])];
}

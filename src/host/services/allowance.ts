/** Trusted side: how many requests a plugin may have pending, and make in a while. */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";

interface Account {
  pending: number;
  startedMs: number;
  count: number;
}

export class Allowance {
  readonly #accounts = new Map<string, Account>();

  /** Throws when the plugin may not make another request. Gives the function to call when the request is over. */
  enter(plugin: string): () => void {
    const account = this.#account(plugin);
    if (account.pending >= LIMITS.pendingFetches) throw new CreelError("ERR_FETCH_BUSY", { limit: LIMITS.pendingFetches });
    const nowMs = performance.now();
    if (nowMs - account.startedMs > LIMITS.fetchWindowMs) {
      account.startedMs = nowMs;
      account.count = 0;
    }
    if (account.count >= LIMITS.fetchesPerWindow)
      throw new CreelError("ERR_FETCH_RATE", { limit: LIMITS.fetchesPerWindow, seconds: LIMITS.fetchWindowMs / 1000 });
    account.count += 1;
    account.pending += 1;
    return () => {
      account.pending -= 1;
    };
  }

  #account(plugin: string): Account {
    let account = this.#accounts.get(plugin);
    if (!account) this.#accounts.set(plugin, (account = { pending: 0, startedMs: performance.now(), count: 0 }));
    return account;
  }
}

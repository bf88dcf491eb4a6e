/** Trusted side: how many connections each plugin may have and open, and how many bytes they may carry. */
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { PluginRates } from "../plugin-rates.ts";

interface Carried {
  bytes: number;
  sinceMs: number;
}

export class ConnectQuota {
  readonly #open = new Map<string, number>();
  readonly #rates = new PluginRates("ERR_CONNECT_RATE", LIMITS.connect.perWindow, LIMITS.connect.windowMs);
  readonly #carried = new Map<string, Carried>();

  /** Throws when the plugin may not open another one. Returns the function to call when it is closed. */
  enter(plugin: string): () => void {
    const open = this.#open.get(plugin) ?? 0;
    if (open >= LIMITS.connect.open) throw new CreelError("ERR_CONNECT_BUSY", { limit: LIMITS.connect.open });
    this.#rates.take(plugin);
    this.#open.set(plugin, open + 1);
    return () => {
      const left = this.#open.get(plugin)! - 1;
      if (left > 0) this.#open.set(plugin, left);
      else this.#open.delete(plugin);
    };
  }

  /** Throws when the plugin's connections carry too much. */
  carry(plugin: string, bytes: number): void {
    const nowMs = performance.now();
    let own = this.#carried.get(plugin);
    if (!own || nowMs - own.sinceMs >= LIMITS.connect.windowMs) this.#carried.set(plugin, (own = { bytes: 0, sinceMs: nowMs }));
    own.bytes += bytes;
    if (own.bytes > LIMITS.connect.bytesPerWindow)
      throw new CreelError("ERR_CONNECT_BYTES", { limit: LIMITS.connect.bytesPerWindow, seconds: LIMITS.connect.windowMs / 1000 });
  }
}

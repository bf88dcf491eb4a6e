/**
 * Trusted side: connections of plugins to servers. They are kept for a moment, for the next request of the same plugin to the
 * same origin and the same checked addresses; never for anybody else's. Nothing here reads the environment: no proxy, no
 * certificates that are not checked.
 */
import type { LookupFunction } from "node:net";
import { buildConnector, Pool } from "undici";
import { LIMITS } from "../../protocol/limits.ts";
import type { Address } from "./addresses.ts";

export class Connections {
  readonly #pools = new Map<string, Pool>();

  /** To an origin, at addresses that were checked for this very request. */
  to(plugin: string, { origin }: URL, addresses: readonly Address[]): Pool {
    // SECURITY: a kept connection leads to where this request may go, or it is not used. test/host/fetch.test.ts
    const key = JSON.stringify([plugin, origin, addresses.map(({ address }) => address).toSorted()]);
    let pool = this.#pools.get(key);
    if (!pool) {
      this.#pools.set(key, (pool = poolOf(origin, addresses)));
      const made = pool;
      pool.on("disconnect", () => this.#disconnected(key, made));
      pool.on("connectionError", () => this.#disconnected(key, made));
    }
    return pool;
  }

  /** How many pools there are. */
  get size(): number {
    return this.#pools.size;
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  /** One without connections and requests is not kept. */
  #disconnected(key: string, pool: Pool): void {
    const { connected, size } = pool.stats;
    if (connected > 0 || size > 0 || this.#pools.get(key) !== pool) return;
    this.#pools.delete(key);
    void pool.close();
  }
}

function poolOf(origin: string, addresses: readonly Address[]): Pool {
  return new Pool(origin, {
    // As many as there may be requests: none waits for another's body to be read.
    connections: LIMITS.pendingFetches,
    pipelining: 1,
    keepAliveTimeout: LIMITS.fetchKeepAliveMs,
    keepAliveMaxTimeout: LIMITS.fetchKeepAliveMs,
    // The clocks are the request's own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: buildConnector({
      lookup: answering(addresses),
      timeout: LIMITS.fetchMs,
      allowH2: false,
      // SECURITY: NODE_TLS_REJECT_UNAUTHORIZED is not for plugins. test/host/fetch.test.ts
      rejectUnauthorized: true,
    }),
  });
}

// SECURITY: the connection goes to what was checked, whatever the name resolves to by now. test/host/fetch.test.ts
function answering(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
}

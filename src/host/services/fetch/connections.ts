/**
 * Trusted side: connections from plugins to servers. A connection is kept briefly for the next request of the same
 * plugin to the same origin and the same checked addresses, and is never shared between plugins. Nothing here reads the
 * environment: no proxy, no unchecked certificates.
 */
import type { LookupFunction } from "node:net";
import type * as Undici from "undici";
import type { Pool } from "undici";
import { LIMITS } from "../../../protocol/limits.ts";
import type { Address } from "./addresses.ts";

export class Connections {
  readonly #pools = new Map<string, Pool>();

  /** The pool for an origin, at addresses that were checked for this very request. */
  async to(plugin: string, { origin }: URL, addresses: readonly Address[]): Promise<Pool> {
    // Loaded with the first request: it has 109 modules, and many gateways grant no network.
    const undici = await import("undici");
    // SECURITY: a kept connection is used only if it leads to an address that this request may reach.
    // test/host/services/fetch/fetch.test.ts
    const key = JSON.stringify([plugin, origin, addresses.map(({ address }) => address).toSorted()]);
    let pool = this.#pools.get(key);
    if (!pool) {
      this.#pools.set(key, (pool = poolOf(undici, origin, addresses)));
      const made = pool;
      pool.on("disconnect", () => this.#disconnected(key, made));
      pool.on("connectionError", () => this.#disconnected(key, made));
    }
    return pool;
  }

  get size(): number {
    return this.#pools.size;
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  /** Drops a pool that has neither connections nor requests. */
  #disconnected(key: string, pool: Pool): void {
    const { connected, size } = pool.stats;
    if (connected > 0 || size > 0 || this.#pools.get(key) !== pool) return;
    this.#pools.delete(key);
    void pool.close();
  }
}

function poolOf({ Pool: Made, buildConnector }: typeof Undici, origin: string, addresses: readonly Address[]): Pool {
  return new Made(origin, {
    // As many as a plugin may have requests, so that none waits for another one's body.
    connections: LIMITS.fetch.pending,
    pipelining: 1,
    keepAliveTimeout: LIMITS.fetch.keepAliveMs,
    keepAliveMaxTimeout: LIMITS.fetch.keepAliveMs,
    // OpenFetch has the timeouts.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: buildConnector({
      lookup: answering(addresses),
      timeout: LIMITS.fetch.wallMs,
      allowH2: false,
      // SECURITY: NODE_TLS_REJECT_UNAUTHORIZED does not apply to plugins. test/host/services/fetch/fetch.test.ts
      rejectUnauthorized: true,
    }),
  });
}

// SECURITY: connects to the checked addresses, whatever the name resolves to by now.
// test/host/services/fetch/fetch.test.ts
function answering(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
}

/** The author's side: types of `api.kv`. */

/** Data: what JSON can say. */
export type KvValue = unknown;

export interface KvLifetime {
  /** The entry is gone after so many milliseconds. */
  ttlMs?: number;
}

export interface KvPage<T> {
  /** In the order of the keys' UTF-8 bytes, which is that of their code points. */
  entries: { key: string; value: T }[];
  /** Give it as `after` for the next page. A page may be short, even empty, and have a next one. */
  next?: string;
}

export interface KvQuestion {
  /** Only keys that begin with it. */
  prefix?: string;
  /** Only keys that come after it. */
  after?: string;
  /** At most so many; 100 if unset, 1,000 at most. */
  limit?: number;
}

/**
 * A store of the plugin's own. It survives restarts where the gateway has a `stateDir`. Values are JSON data of up to 256 KB, keys are texts of up
 * to 1,024 bytes. What is refused rejects with an error whose `code` says why, such as `ERR_KV_QUOTA`; nothing is written then.
 */
export interface PluginKv {
  get<T = KvValue>(key: string): Promise<T | undefined>;
  /** Up to 128 at once, in the order of the keys; one question to the host. */
  getMany<T = KvValue>(keys: readonly string[]): Promise<(T | undefined)[]>;
  /** Without `ttlMs` the entry stays, even if the one before it would not have. */
  set(key: string, value: KvValue, options?: KvLifetime): Promise<void>;
  /**
   * Atomically: `change` gets the current value and returns the new one; undefined leaves it as it is. It is called again when another call wrote
   * meanwhile, so it must do nothing else. Gives what is there now. Without `ttlMs` the entry lives as long as it would have.
   */
  update<T = KvValue>(
    key: string,
    change: (old: T | undefined) => T | undefined | Promise<T | undefined>,
    options?: KvLifetime,
  ): Promise<T | undefined>;
  /** Atomically adds a number, 1 if unset, to what is there, or to 0. Gives the sum. `ttlMs` counts from the first of the increments. */
  increment(key: string, by?: number, options?: KvLifetime): Promise<number>;
  /** True: there was one. */
  delete(key: string): Promise<boolean>;
  list<T = KvValue>(question?: KvQuestion & { values?: true }): Promise<KvPage<T>>;
  /** Without their values. */
  list(question: KvQuestion & { values: false }): Promise<KvPage<undefined>>;
}

/**
 * Trusted side: the stores of plugins (`api.kv`). Each has one of its own, which nothing but its id leads to; it is opened when it is first used.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type * as z from "zod";
import { kvQuestion } from "../../protocol/kv-message.ts";
import type { KvAnswers } from "../../protocol/kv-message.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Causes } from "../causes.ts";
import type { Logger } from "../log.ts";
import type { Plugin } from "../plugin.ts";
import { KvCauses } from "./kv-causes.ts";
import { KvStore } from "./kv-store.ts";
import type { KvUse } from "./kv-store.ts";
import { Rate } from "./rate.ts";
import { demand } from "./service.ts";
import type { Asked, Service, ServiceGroup } from "./service.ts";
import { checked } from "./session.ts";

export interface KvOptions {
  /** Undefined: in memory. */
  readonly stateDir: string | undefined;
  readonly causes: Causes;
  readonly logger: Logger;
  readonly now?: () => number;
}

export interface KvReport {
  readonly maxBytes: number;
  /** False: there is no stateDir, and what is stored is gone with the process. */
  readonly isPersistent: boolean;
  /** Undefined: it cannot be read now. */
  readonly bytes: number | undefined;
  readonly keys: number | undefined;
  /** Files that were broken and were set aside since the host was opened. */
  readonly setAside: readonly string[];
}

interface Kept {
  readonly store: KvStore;
  readonly setAside: string[];
}

export class Kv {
  readonly #options: KvOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #rate = new Rate("ERR_KV_RATE", LIMITS.kvOpsPerWindow, LIMITS.kvWindowMs);
  readonly causes: KvCauses;

  constructor(options: KvOptions) {
    this.#options = options;
    this.causes = new KvCauses(options.causes);
  }

  store(plugin: Plugin): KvStore {
    demand(plugin.grants.kv !== undefined, plugin, "kv", "kv: true");
    this.#rate.take(plugin.id);
    return this.#keep(plugin).store;
  }

  /** Undefined: it has no store. */
  report(plugin: Plugin): KvReport | undefined {
    if (plugin.grants.kv === undefined) return undefined;
    const path = this.#pathOf(plugin);
    const kept = this.#kept.get(plugin.id);
    // To look at a store must not make one.
    const use = kept || (path !== undefined && existsSync(path)) ? useOf(this.#keep(plugin).store) : NOTHING;
    return {
      maxBytes: maxBytesOf(plugin),
      isPersistent: path !== undefined,
      bytes: use?.bytes,
      keys: use?.keys,
      setAside: [...(this.#kept.get(plugin.id)?.setAside ?? [])],
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.values()].map(({ store }) => store.close()));
  }

  #keep(plugin: Plugin): Kept {
    const known = this.#kept.get(plugin.id);
    if (known) return known;
    const { id } = plugin;
    const { logger, now } = this.#options;
    const path = this.#pathOf(plugin);
    const setAside: string[] = [];
    const store = new KvStore({
      path,
      maxBytes: maxBytesOf(plugin),
      ...(now && { now }),
      onSetAside: (aside, detail) => {
        setAside.push(aside);
        logger.error({ plugin: id, path, aside, detail }, "a plugin's store was broken and was set aside; it starts with an empty one");
      },
      onFailure: (error) => logger.error({ plugin: id, path, err: error }, "a plugin's store failed"),
    });
    const kept = { store, setAside };
    this.#kept.set(id, kept);
    return kept;
  }

  #pathOf({ id }: Plugin): string | undefined {
    const { stateDir } = this.#options;
    return stateDir === undefined ? undefined : join(stateDir, "kv", `${storeName(id)}.sqlite`);
  }
}

const NOTHING: KvUse = { bytes: 0, keys: 0 };

function useOf(store: KvStore): KvUse | undefined {
  try {
    return store.use();
  } catch {
    return undefined;
  }
}

function maxBytesOf({ grants: { kv } }: Plugin): number {
  return typeof kv === "object" ? kv.maxBytes : LIMITS.kvBytes;
}

/** For people, and a digest for the rest: ids differ in case, some file systems do not, and a scope has a slash in it. */
export function storeName(id: string): string {
  const readable = id.toLowerCase().replaceAll("/", "+").slice(0, 64);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
}

type Question = keyof typeof kvQuestion;
type Answering = {
  [Q in Question]: (store: KvStore, args: z.output<(typeof kvQuestion)[Q]>, mark: Marks) => Promise<KvAnswers[`kv.${Q}`]>;
};

/** For causes. In the order in which things happen to the entries: so they are made while the store is at it. */
interface Marks {
  readonly read: (...keys: readonly string[]) => void;
  readonly wrote: (key: string) => void;
}

const ANSWERS: Answering = {
  get: async (store, { keys }, { read }) => (await store.read(keys, () => read(...keys))).map((entry) => entry ?? null),
  set: async (store, { key, value, ttlMs }, { wrote }) => {
    await store.set(key, value, ttlMs, () => wrote(key));
    return null;
  },
  swap: async (store, { key, version, value, ttlMs }, { read, wrote }) => {
    const found = await store.swap(key, version, value, ttlMs ?? "keep", (refused) => {
      read(key);
      if (refused === undefined) wrote(key);
    });
    return found === undefined ? null : { found };
  },
  increment: (store, { key, by, ttlMs }, { read, wrote }) =>
    store.increment(key, by, ttlMs, () => {
      read(key);
      wrote(key);
    }),
  delete: (store, { key }, { read, wrote }) =>
    store.delete(key, () => {
      read(key);
      wrote(key);
    }),
  list: (store, { prefix = "", after, limit = LIMITS.kvPageUsual, values = true }, { read }) =>
    store.list({ prefix, after, limit, hasValues: values }, ({ entries }) => read(...entries.map(({ key }) => key))),
};

/** A value is a text inside of a text: every quote in it takes two characters more. */
const MAX_BYTES = 2 * LIMITS.kvValueBytes + 16 * LIMITS.kvKeyBytes;
const MAX_BYTES_OF_KEYS = LIMITS.kvKeys * (6 * LIMITS.kvKeyBytes + 3);

export function kvServices(kv: Kv): ServiceGroup {
  const services: Record<string, Service> = {};
  for (const [name, answer] of Object.entries(ANSWERS) as [Question, (store: KvStore, args: unknown, marks: Marks) => Promise<unknown>][]) {
    const service = `kv.${name}`;
    services[service] = {
      maxBytes: name === "get" ? MAX_BYTES_OF_KEYS : MAX_BYTES,
      // SECURITY: which store, is said by the cell that asked, never by what it asks. test/contract/kv.test.ts
      answer: ({ plugin, run, args }: Asked) => {
        const store = kv.store(plugin);
        return answer(store, checked(kvQuestion[name] as z.ZodType, args, service), {
          read: (...keys) => kv.causes.read(plugin.id, run, keys),
          wrote: (key) => kv.causes.wrote(plugin.id, run, key),
        });
      },
    };
  }
  return { services, close: () => kv.close() };
}

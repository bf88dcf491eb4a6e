/**
 * Trusted side: the key-value stores of plugins (`api.kv`). Each plugin has its own, which only its id leads to: a file, opened on first
 * use, or its rows in a database that several hosts share.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type * as z from "zod";
import { kvRequest } from "../../../protocol/messages/kv.ts";
import type { KvResponses } from "../../../protocol/messages/kv.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { Causes } from "../../causality/causes.ts";
import type { Logger } from "../../report/log.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import { FailureLog } from "../../storage/failure-log.ts";
import { KvCauses } from "./kv-causes.ts";
import type { KvBackend, KvUse } from "./kv-backend.ts";
import { KvDatabase } from "./kv-database.ts";
import { PluginRates } from "../plugin-rates.ts";
import { checked, demand } from "../service.ts";
import type { ServiceRequest, Service, ServiceGroup } from "../service.ts";

export interface KvOptions {
  /** Undefined: in memory. */
  readonly stateDir: string | undefined;
  readonly causes: Causes;
  readonly logger: Logger;
  readonly now?: () => number;
  /** Undefined: no plugin's entries are shared. */
  readonly shared?: SharedKv | undefined;
  /** In an author's test: what each store has in it at first, as JSON texts by key. */
  readonly seeds?: KvSeeds | undefined;
}

export type KvSeeds = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** A database that several hosts share, and whose entries are there. */
export interface SharedKv {
  isShared(plugin: string): boolean;
  store(plugin: string, maxBytes: number): KvBackend;
  close(): Promise<void>;
}

export interface KvReport {
  /** `host`: no other machine sees the entries. `shared`: the hosts of one `kv.postgres` do. */
  readonly scope: "host" | "shared";
  readonly maxBytes: number;
  /** False: there is no stateDir, and the entries are gone when the process ends. */
  readonly isPersistent: boolean;
  /** Undefined: it cannot be read now. */
  readonly bytes: number | undefined;
  readonly keys: number | undefined;
  /** Broken files that were set aside since the host opened. */
  readonly setAside: readonly string[];
}

interface Kept {
  readonly database: KvBackend;
  readonly setAside: string[];
  readonly seeded?: Promise<unknown>;
}

export class Kv {
  readonly #options: KvOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #rate = new PluginRates("ERR_KV_RATE", LIMITS.kv.opsPerWindow, LIMITS.kv.windowMs);
  readonly causes: KvCauses;

  constructor(options: KvOptions) {
    this.#options = options;
    this.causes = new KvCauses(options.causes);
  }

  database(plugin: Plugin): KvBackend {
    this.#rate.take(plugin.id);
    return this.#keep(plugin).database;
  }

  /** For an author's test: the store when its seeds are in it, without the plugin's rate. */
  async store(plugin: Plugin): Promise<KvBackend> {
    const { database, seeded } = this.#keep(plugin);
    await seeded;
    return database;
  }

  /** Undefined: the plugin was granted no database. */
  report(plugin: Plugin): KvReport | undefined {
    if (plugin.grants.kv === undefined) return undefined;
    const path = this.#pathOf(plugin);
    const kept = this.#kept.get(plugin.id);
    // A report must not create a database.
    const isShared = this.#isShared(plugin);
    const isThere = kept !== undefined || isShared || (path !== undefined && existsSync(path));
    const use = isThere ? this.#keep(plugin).database.use() : NOTHING;
    return {
      scope: isShared ? "shared" : "host",
      maxBytes: maxBytesOf(plugin),
      isPersistent: isShared || path !== undefined,
      bytes: use?.bytes,
      keys: use?.keys,
      setAside: [...(this.#kept.get(plugin.id)?.setAside ?? [])],
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.values()].map(({ database }) => database.close()));
    await this.#options.shared?.close();
  }

  #isShared({ id }: Plugin): boolean {
    return this.#options.shared?.isShared(id) === true;
  }

  #keep(plugin: Plugin): Kept {
    const known = this.#kept.get(plugin.id);
    if (known) return known;
    const { id } = plugin;
    const { logger, now, shared } = this.#options;
    if (shared?.isShared(id)) return this.#remember(id, { database: shared.store(id, maxBytesOf(plugin)), setAside: [] });
    const path = this.#pathOf(plugin);
    const setAside: string[] = [];
    const failures = new FailureLog((err, more) => logger.error({ plugin: id, path, err, ...more }, "kv database failed"));
    const database = new KvDatabase({
      path,
      maxBytes: maxBytesOf(plugin),
      measure: (work) => plugin.gatewayTime.measure(work),
      ...(now && { now }),
      onSetAside: (aside, detail) => {
        setAside.push(aside);
        logger.error({ plugin: id, path, aside, detail }, "kv database was broken and was set aside; starting with an empty one");
      },
      onFailure: (error) => failures.failed(error),
    });
    const seeds = Object.entries(this.#options.seeds?.get(id) ?? {});
    if (seeds.length === 0) return this.#remember(id, { database, setAside });
    // Requests are done in their order, so the plugin finds them.
    const seeded = Promise.all(seeds.map(([key, text]) => database.set(key, text, undefined)));
    // `store` tells.
    seeded.catch(() => {});
    return this.#remember(id, { database, setAside, seeded });
  }

  #remember(id: string, kept: Kept): Kept {
    this.#kept.set(id, kept);
    return kept;
  }

  #pathOf({ id }: Plugin): string | undefined {
    const { stateDir } = this.#options;
    return stateDir === undefined ? undefined : join(stateDir, "kv", `${databaseName(id)}.sqlite`);
  }
}

const NOTHING: KvUse = { bytes: 0, keys: 0 };

function maxBytesOf({ grants: { kv } }: Plugin): number {
  return typeof kv === "object" ? kv.maxBytes : LIMITS.kv.bytes;
}

/** A readable part, and a digest because ids differ in case, some file systems do not, and a scope contains a slash. */
export function databaseName(id: string): string {
  const readable = id.toLowerCase().replaceAll("/", "+").slice(0, 64);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
}

type Question = keyof typeof kvRequest;
type Answering = {
  [Q in Question]: (database: KvBackend, args: z.output<(typeof kvRequest)[Q]>, mark: Marks) => Promise<KvResponses[`kv.${Q}`]>;
};

/** For causes. Called while the database works on the entries, so that they come in that order. */
interface Marks {
  readonly read: (...keys: readonly string[]) => void;
  readonly wrote: (key: string) => void;
}

const ANSWERS: Answering = {
  get: async (database, { keys }, { read }) => (await database.read(keys, () => read(...keys))).map((entry) => entry ?? null),
  set: async (database, { key, value, ttlMs }, { wrote }) => {
    await database.set(key, value, ttlMs, () => wrote(key));
    return null;
  },
  swap: async (database, { key, version, value, ttlMs }, { read, wrote }) => {
    const found = await database.swap(key, version, value, ttlMs ?? "keep", (refused) => {
      read(key);
      if (refused === undefined) wrote(key);
    });
    return found === undefined ? null : { found };
  },
  increment: (database, { key, by, ttlMs }, { read, wrote }) =>
    database.increment(key, by, ttlMs, () => {
      read(key);
      wrote(key);
    }),
  delete: (database, { key }, { read, wrote }) =>
    database.delete(key, () => {
      read(key);
      wrote(key);
    }),
  list: (database, { prefix = "", after, limit = LIMITS.kv.pageUsual, values = true }, { read }) =>
    database.list({ prefix, after, limit, hasValues: values }, ({ entries }) => read(...entries.map(({ key }) => key))),
};

/** A value is a text within a text: every quote in it takes two more characters. */
const MAX_BYTES = 2 * LIMITS.kv.valueBytes + 16 * LIMITS.kv.keyBytes;
const MAX_BYTES_OF_KEYS = LIMITS.kv.keys * (6 * LIMITS.kv.keyBytes + 3);

export function kvServices(kv: Kv): ServiceGroup {
  const services: Record<string, Service> = {};
  for (const [name, answer] of Object.entries(ANSWERS) as [
    Question,
    (database: KvBackend, args: unknown, marks: Marks) => Promise<unknown>,
  ][]) {
    const service = `kv.${name}`;
    services[service] = {
      maxBytes: name === "get" ? MAX_BYTES_OF_KEYS : MAX_BYTES,
      permit: (plugin) => demand(plugin.grants.kv !== undefined, plugin, "kv", "kv: true"),
      // SECURITY: the requesting cell decides which database is used, never the request. test/contract/kv.test.ts
      answer: ({ plugin, run, args }: ServiceRequest) => {
        const database = kv.database(plugin);
        return answer(database, checked(kvRequest[name] as z.ZodType, args, service), {
          read: (...keys) => kv.causes.read(plugin.id, run, keys),
          wrote: (key) => kv.causes.wrote(plugin.id, run, key),
        });
      },
    };
  }
  return { services, close: () => kv.close() };
}

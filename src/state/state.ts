/**
 * Trusted side: the installed plugins, in the state folder. `creel.lock` lists them with their permissions; `store` has
 * their files by content. A change is prepared in `staging`, moved into `store`, and committed by replacing the lock. A
 * process that is killed before that has changed nothing, and the next change clears away what it left. Readers take no
 * lock.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { digestOf } from "./lock.ts";
import type { LockEntry, SealKey } from "./lock.ts";
import { LOCK_FILE, readLock, unknownPlugin, writeLock } from "./lock-file.ts";
import type { Entries } from "./lock-file.ts";
import { clearWorkspaces, openWorkspace } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";
import { exclusively } from "./mutex.ts";
import type { Waiting } from "./mutex.ts";
import { clearStaging, collect, readIntact, readStored } from "./store.ts";
import { BUNDLE, guarded, MANIFEST, MAP, Transaction } from "./transaction.ts";

/** The package as it was fetched, for people to read: verified with the rest, but not read into memory. */
const PACKAGE = "package/";

export interface StateOptions {
  /** Seals the lock; see lock.ts for what that is worth. */
  readonly key?: Uint8Array;
  /** How long to keep files that no plugin refers to any more. */
  readonly retiredMs?: number;
}

/** What is loaded is what was accepted, byte for byte. */
export interface Loaded {
  readonly entry: LockEntry;
  readonly code: string;
  readonly map: string;
  readonly manifest: unknown;
  /** All but the package. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The folder of the store. */
  readonly folder: string;
}

export interface Examined {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Undefined: the files are what was accepted. */
  readonly fault: CreelError | undefined;
}

/** Reads nothing yet. */
export function openState(dir: string, options: StateOptions = {}): State {
  return new State(dir, options);
}

export class State {
  readonly dir: string;
  readonly #key: SealKey;
  readonly #retiredMs: number;

  constructor(dir: string, { key, retiredMs = LIMITS.state.retiredMs }: StateOptions) {
    this.dir = dir;
    this.#key = key;
    this.#retiredMs = retiredMs;
  }

  /** By id. Rejects when the lock is not what Creel wrote: then none of it can be trusted. */
  read(): Promise<Entries> {
    return this.#guarded(() => readLock(this.dir, this.#key));
  }

  load(id: string): Promise<Loaded> {
    return this.#guarded(async () => {
      for (let tried: string | undefined; ;) {
        const installed = await readLock(this.dir, this.#key);
        const entry = installed.get(id);
        if (!entry) throw unknownPlugin(id, installed);
        try {
          return await this.#load(entry);
        } catch (error) {
          if (!(error instanceof CreelError)) throw error;
          // It may have been replaced and cleared away since the lock was read.
          if (tried === entry.seal) throw new CreelError(error.code, { ...error.params, plugin: id });
          tried = entry.seal;
        }
      }
    });
  }

  /** The version that an entry names, whatever the lock says by now: its files are kept for a while. */
  loadEntry(entry: LockEntry): Promise<Loaded> {
    return this.#guarded(async () => {
      try {
        return await this.#load(entry);
      } catch (error) {
        throw error instanceof CreelError ? new CreelError(error.code, { ...error.params, plugin: entry.id }) : error;
      }
    });
  }

  /** The files of an entry, and what is wrong with them. If something is, only the intact ones. */
  examine(entry: LockEntry): Promise<Examined> {
    return this.#guarded(async () => {
      try {
        const { files } = await this.#load(entry);
        return { files, fault: undefined };
      } catch (error) {
        if (!(error instanceof CreelError)) throw error;
        const fault = new CreelError(error.code, { ...error.params, plugin: entry.id });
        return { files: await readIntact(this.dir, entry.store), fault };
      }
    });
  }

  async #load(entry: LockEntry): Promise<Loaded> {
    const files = await readStored(this.dir, entry.store, (file) => !file.startsWith(PACKAGE));
    const folder = join(this.dir, "store", entry.store);
    const has = (file: string, digest?: string): Buffer => {
      const content = files.get(file);
      if (content && (digest === undefined || digestOf(content) === digest)) return content;
      throw new CreelError("ERR_STATE_CHANGED", { file: join(folder, file), detail: "does not match the lock" });
    };
    return {
      entry,
      code: has(BUNDLE, entry.bundle.integrity).toString(),
      map: has(MAP, entry.bundle.mapIntegrity).toString(),
      manifest: JSON.parse(has(MANIFEST).toString()) as unknown,
      files,
      folder,
    };
  }

  /**
   * Commits all changes of the work at once when it ends; if it throws, none. Others wait meanwhile, so ask the
   * operator before; `tx.get` then tells whether the decision is still valid.
   */
  async transaction<T>(work: (tx: Transaction) => T | Promise<T>, waiting: Waiting = {}): Promise<T> {
    const done = await this.#exclusively(waiting, async (entries) => {
      const tx = new Transaction(this.dir, entries, this.#key);
      let result: T;
      try {
        result = await work(tx);
      } catch (error) {
        tx.end();
        return { error };
      }
      const after = tx.end();
      if (after) writeLock(this.dir, after, this.#key);
      try {
        collect(this.dir, storesOf(after ?? entries), this.#retiredMs);
      } catch {
        // The change is committed; cleaning up can wait for the next one.
      }
      return { result };
    });
    // Pass on what the work throws.
    if ("error" in done) throw done.error;
    return done.result;
  }

  /** Removes files that no plugin refers to, as every change does. Returns the number of removed folders. */
  collect(waiting: Waiting = {}): Promise<number> {
    return this.#exclusively(waiting, async (entries) => collect(this.dir, storesOf(entries), this.#retiredMs));
  }

  /**
   * An empty folder on the same disk, for what is fetched and reviewed before it is installed. It is removed with its
   * owner, even if the owner is killed.
   */
  workspace(waiting: Waiting = {}): Promise<Workspace> {
    return this.#exclusively(waiting, async () => openWorkspace(this.dir));
  }

  #exclusively<T>(waiting: Waiting, work: (entries: Entries) => Promise<T>): Promise<T> {
    return this.#guarded(async () => {
      mkdirSync(this.dir, { recursive: true, mode: 0o700 });
      return exclusively(this.dir, waiting, async () => {
        for (const name of ["staging", "retired", "work"]) mkdirSync(join(this.dir, name), { recursive: true, mode: 0o700 });
        clearStaging(this.dir);
        clearWorkspaces(this.dir);
        const entries = await readLock(this.dir, this.#key);
        // From here on, a missing lock means that it was removed.
        if (!existsSync(join(this.dir, LOCK_FILE))) writeLock(this.dir, entries, this.#key);
        mkdirSync(join(this.dir, "store"), { recursive: true, mode: 0o700 });
        return work(entries);
      });
    });
  }

  #guarded<T>(work: () => Promise<T>): Promise<T> {
    return guarded(this.dir, work);
  }
}

function storesOf(entries: Entries): ReadonlySet<string> {
  return new Set(Array.from(entries.values(), ({ store }) => store));
}

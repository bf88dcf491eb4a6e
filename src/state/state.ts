/**
 * Trusted side: the installed plugins, in the state folder. `creel.lock` says which there are and what they may do, `store` has their files by
 * content. A change is prepared in `staging`, moved into `store`, and happens when the lock is replaced: whoever is killed before that has changed
 * nothing, and what they leave is cleared away by the next. Readers take no lock.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { digestOf } from "./lock.ts";
import type { LockEntry, SealKey } from "./lock.ts";
import { LOCK_FILE, readLock, writeLock } from "./lock-file.ts";
import type { Entries } from "./lock-file.ts";
import { clearWorkspaces, openWorkspace } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";
import { exclusively } from "./mutex.ts";
import type { Waiting } from "./mutex.ts";
import { clearStaging, collect, readStored } from "./store.ts";
import { guarded } from "./state-error.ts";
import { BUNDLE, MANIFEST, MAP, Transaction } from "./transaction.ts";

/** The package as it was fetched, for people to look at: checked with the rest, and not read into memory. */
export const PACKAGE = "package/";

export interface StateOptions {
  /** Seals the lock; see lock.ts for what that is worth. */
  readonly key?: Uint8Array;
  /** How long files are kept that no plugin refers to any more. */
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

/** Reads nothing yet. */
export function openState(dir: string, options: StateOptions = {}): State {
  return new State(dir, options);
}

export class State {
  readonly dir: string;
  readonly #key: SealKey;
  readonly #retiredMs: number;

  constructor(dir: string, { key, retiredMs = LIMITS.retiredMs }: StateOptions) {
    this.dir = dir;
    this.#key = key;
    this.#retiredMs = retiredMs;
  }

  /** By id. Rejects when the lock is not what Creel wrote: then nothing of it is to be believed. */
  read(): Promise<Entries> {
    return this.#guarded(() => readLock(this.dir, this.#key));
  }

  load(id: string): Promise<Loaded> {
    return this.#guarded(async () => {
      for (let tried: string | undefined; ;) {
        const entry = (await readLock(this.dir, this.#key)).get(id);
        if (!entry) throw new CreelError("ERR_STATE_UNKNOWN", { plugin: id });
        try {
          return await this.#load(entry);
        } catch (error) {
          if (!(error instanceof CreelError)) throw error;
          // It may have been replaced, and cleared away, since the lock was read.
          if (tried === entry.seal) throw new CreelError(error.code, { ...error.params, plugin: id });
          tried = entry.seal;
        }
      }
    });
  }

  /** The version that an entry names, whatever is in the lock by now: its files are kept for a while. */
  loadEntry(entry: LockEntry): Promise<Loaded> {
    return this.#guarded(async () => {
      try {
        return await this.#load(entry);
      } catch (error) {
        throw error instanceof CreelError ? new CreelError(error.code, { ...error.params, plugin: entry.id }) : error;
      }
    });
  }

  async #load(entry: LockEntry): Promise<Loaded> {
    const files = await readStored(this.dir, entry.store, (file) => !file.startsWith(PACKAGE));
    const folder = join(this.dir, "store", entry.store);
    const has = (file: string, digest?: string): Buffer => {
      const content = files.get(file);
      if (content && (digest === undefined || digestOf(content) === digest)) return content;
      throw new CreelError("ERR_STATE_CHANGED", { file: join(folder, file), detail: "is not the one that the lock names" });
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
   * All that the work does to the state happens at once when it has ended, or, if it throws, not at all. Others wait meanwhile, so questions are
   * asked before; `tx.get` then says whether what was decided on is still so.
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
        // The change has happened; rubbish can wait for the next.
      }
      return { result };
    });
    // What the work throws is its own affair.
    if ("error" in done) throw done.error;
    return done.result;
  }

  /** Removes files that no plugin refers to. Every change does that, too. Gives how many folders were removed. */
  collect(waiting: Waiting = {}): Promise<number> {
    return this.#exclusively(waiting, async (entries) => collect(this.dir, storesOf(entries), this.#retiredMs));
  }

  /** An empty folder on the same disk, for what is fetched and looked at before it is installed. It goes with whoever opened it, even if they are killed. */
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
        // From here on a lock that is missing is a lock that was taken away.
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

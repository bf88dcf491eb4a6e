/**
 * Trusted side: a change of the installed plugins that is not committed yet. Its files are in the store already, but
 * nothing refers to them.
 */
import { isUtf8 } from "node:buffer";
import { systemError } from "../os/system-error.ts";
import { firstIssue } from "../text/schema-issue.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { digestOf, grantsDigest, lockEntry, sealOf } from "./lock.ts";
import type { LockEntry, PluginFacts, SealKey } from "./lock.ts";
import { unknownPlugin } from "./lock-file.ts";
import type { Entries } from "./lock-file.ts";
import { bytesOf, filesFault, place } from "./store.ts";
import type { Files } from "./store.ts";

/** Every plugin has these. */
export const BUNDLE = "bundle.js";
export const MAP = "bundle.js.map";
export const MANIFEST = "manifest.json";

/** What may change without installing the plugin again. */
export type Patch = Partial<Pick<PluginFacts, "grants" | "permissions" | "budgets" | "accepted" | "enabled">>;

export class Transaction {
  readonly #dir: string;
  readonly #entries: Map<string, LockEntry>;
  readonly #key: SealKey;
  #isChanged = false;
  #isOver = false;

  constructor(dir: string, entries: Entries, key: SealKey) {
    this.#dir = dir;
    this.#entries = new Map(entries);
    this.#key = key;
  }

  get(id: string): LockEntry | undefined {
    return this.#entries.get(id);
  }

  list(): LockEntry[] {
    return [...this.#entries.values()];
  }

  /** Replaces the plugin of that id, if there is one. `files` must have a bundle, its map and a manifest. */
  put(facts: PluginFacts, files: Files): Promise<LockEntry> {
    return guarded(this.#dir, () => this.#put(facts, files));
  }

  async #put(facts: PluginFacts, files: Files): Promise<LockEntry> {
    this.#check();
    const refuse = (field: string, detail: string): never => {
      throw new CreelError("ERR_STATE_ENTRY", { plugin: facts.id, field, detail });
    };
    const given = (file: string): Uint8Array => {
      const content = bytesOf(files.get(file) ?? refuse(`files.${file}`, "it is missing"));
      // The cell gets text: two bundles must not decode to the same text.
      return isUtf8(content) ? content : refuse(`files.${file}`, "it is not UTF-8");
    };
    const bundle = given(BUNDLE);
    const map = given(MAP);
    const manifest = given(MANIFEST);
    try {
      JSON.parse(Buffer.from(manifest).toString());
    } catch (error) {
      refuse(`files.${MANIFEST}`, (error as Error).message);
    }
    const fault = filesFault(files);
    if (fault) refuse(fault.field, fault.detail);
    if (!this.#entries.has(facts.id) && this.#entries.size >= LIMITS.state.installedPlugins)
      refuse("id", `${LIMITS.state.installedPlugins} plugins are installed, which is the limit`);
    const checked = (store: string) =>
      this.#sealed({
        ...facts,
        bundle: { integrity: digestOf(bundle), bytes: bundle.length, mapIntegrity: digestOf(map) },
        store,
        grantsDigest: grantsDigest(facts),
      });
    // Before any file is written.
    checked(`sha256-${"0".repeat(64)}`);
    const entry = checked(await place(this.#dir, new Map([...files, [BUNDLE, bundle], [MAP, map], [MANIFEST, manifest]])));
    this.#check();
    this.#set(entry);
    return entry;
  }

  update(id: string, patch: Patch): LockEntry {
    this.#check();
    const { seal: _, ...before } = this.known(id);
    const after = { ...before, ...patch };
    const entry = this.#sealed({ ...after, grantsDigest: grantsDigest(after) });
    this.#set(entry);
    return entry;
  }

  remove(id: string): LockEntry {
    this.#check();
    const entry = this.known(id);
    this.#entries.delete(id);
    this.#isChanged = true;
    return entry;
  }

  /** Undefined: nothing has changed. */
  end(): Entries | undefined {
    this.#isOver = true;
    return this.#isChanged ? this.#entries : undefined;
  }

  known(id: string): LockEntry {
    const entry = this.#entries.get(id);
    if (!entry) throw unknownPlugin(id, this.#entries);
    return entry;
  }

  #sealed(entry: Omit<LockEntry, "seal">): LockEntry {
    const parsed = lockEntry.safeParse({ ...entry, seal: sealOf(entry, this.#key) });
    if (!parsed.success) throw new CreelError("ERR_STATE_ENTRY", { plugin: entry.id, ...firstIssue(parsed.error) });
    return parsed.data;
  }

  #set(entry: LockEntry): void {
    if (this.#entries.get(entry.id)?.seal !== entry.seal) this.#isChanged = true;
    this.#entries.set(entry.id, entry);
  }

  #check(): void {
    if (this.#isOver) throw new TypeError("the transaction has ended");
  }
}

/** Turns errors of the file system and SQLite about the state folder into errors with a remedy. */
export async function guarded<T>(dir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall === undefined && code !== "ERR_SQLITE_ERROR") throw error;
    throw systemError(error, () => dir) ?? new CreelError("ERR_STATE_IO", { dir, detail: (error as Error).message }, { cause: error });
  }
}

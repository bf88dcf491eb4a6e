/** Trusted side: a change of the installed plugins that has not happened yet. Files are in the store before it does, and nobody refers to them. */
import { isUtf8 } from "node:buffer";
import { firstIssue } from "../host/issues.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { digestOf, grantsDigest, lockEntry, sealOf } from "./lock.ts";
import type { LockEntry, PluginFacts, SealKey } from "./lock.ts";
import type { Entries } from "./lock-file.ts";
import { guarded } from "./state-error.ts";
import { bytesOf, filesFault, place } from "./store.ts";
import type { Files } from "./store.ts";

/** Every plugin has these. */
export const BUNDLE = "bundle.js";
export const MAP = "bundle.js.map";
export const MANIFEST = "manifest.json";

/** What may change without the plugin being installed again. */
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

  /** Takes the place of the plugin of that id, if there is one. `files` must have a bundle, its map and a manifest. */
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
      // What runs is text: two texts must not look the same to it.
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
    if (!this.#entries.has(facts.id) && this.#entries.size >= LIMITS.installedPlugins)
      refuse("id", `${LIMITS.installedPlugins} plugins are installed, which is the limit`);
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
    const { seal: _, ...before } = this.#known(id);
    const after = { ...before, ...patch };
    const entry = this.#sealed({ ...after, grantsDigest: grantsDigest(after) });
    this.#set(entry);
    return entry;
  }

  remove(id: string): LockEntry {
    this.#check();
    const entry = this.#known(id);
    this.#entries.delete(id);
    this.#isChanged = true;
    return entry;
  }

  /** Undefined: nothing has changed. */
  end(): Entries | undefined {
    this.#isOver = true;
    return this.#isChanged ? this.#entries : undefined;
  }

  #known(id: string): LockEntry {
    const entry = this.#entries.get(id);
    if (!entry) throw new CreelError("ERR_STATE_UNKNOWN", { plugin: id });
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
    if (this.#isOver) throw new TypeError("the transaction is over");
  }
}

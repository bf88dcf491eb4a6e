/**
 * Shared: the lock of a fleet: a signed list of entries, the entries by their digests, and the files by theirs. Operators write it and hosts read
 * it. The list is replaced last and by compare-and-swap, so that a reader never finds a list whose entries are not there yet.
 */
import { createHash } from "node:crypto";
import { CreelError } from "../../protocol/errors.ts";
import { lockEntry, sorted } from "../../state/lock.ts";
import type { LockEntry } from "../../state/lock.ts";
import type { Bucket, Bus } from "../bus.ts";
import { read } from "../messages.ts";
import type { Index } from "../messages.ts";
import { BUCKETS } from "../subjects.ts";
import { arrived } from "./arrived.ts";
import { getBundle, putBundle } from "./bundles.ts";
import { signIndex, verifiedIndex } from "./signature.ts";

/** An entry without its seal: each host seals it with the key of its own lock. */
const sharedEntry = lockEntry.omit({ seal: true });
export type SharedEntry = Omit<LockEntry, "seal">;

export interface NewEntry {
  readonly entry: LockEntry;
  readonly files: () => Promise<ReadonlyMap<string, Uint8Array>>;
}

export function entryText(entry: LockEntry): string {
  const { seal: _, ...shared } = entry;
  return JSON.stringify(sorted(shared));
}

export function entryDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const LIST = "index";

export class SharedLock {
  readonly #lock: Bucket;
  readonly #bundles: Bucket;
  readonly #operators: readonly string[];

  private constructor(lock: Bucket, bundles: Bucket, operators: readonly string[]) {
    this.#lock = lock;
    this.#bundles = bundles;
    this.#operators = operators;
  }

  static async open(bus: Bus, operators: readonly string[]): Promise<SharedLock> {
    const [lock, bundles] = await Promise.all([bus.bucket(BUCKETS.lock), bus.bucket(BUCKETS.bundles)]);
    return new SharedLock(lock, bundles, operators);
  }

  /** For an operator: makes the buckets of a new fleet. */
  static async make(bus: Bus, operators: readonly string[], replicas: number): Promise<SharedLock> {
    const [lock, bundles] = await Promise.all([bus.makeBucket(BUCKETS.lock, replicas), bus.makeBucket(BUCKETS.bundles, replicas)]);
    return new SharedLock(lock, bundles, operators);
  }

  /** Undefined: nothing was ever installed. Rejects if no operator has signed it. */
  async list(): Promise<{ readonly index: Index; readonly revision: number } | undefined> {
    const found = await this.#lock.get(LIST);
    return found && { index: verifiedIndex(Buffer.from(found.bytes).toString(), this.#operators), revision: found.revision };
  }

  /** SECURITY: an entry or a bundle with other bytes than the signed ones is refused. test/fleet/control.test.ts */
  async entry(plugin: string, digest: string): Promise<SharedEntry> {
    const found = await arrived(this.#lock, `entry.${digest}`);
    const text = found && Buffer.from(found.bytes).toString();
    if (text === undefined || entryDigest(text) !== digest)
      throw new CreelError("ERR_FLEET_ENTRY", {
        plugin,
        detail: text === undefined ? "it is not there" : "its bytes are not the signed ones",
      });
    const entry = read(sharedEntry, text);
    if (!entry || entry.id !== plugin) throw new CreelError("ERR_FLEET_ENTRY", { plugin, detail: "it is not an entry of this plugin" });
    return entry;
  }

  files(plugin: string, store: string): Promise<Map<string, Buffer>> {
    return getBundle(this.#bundles, plugin, store, true);
  }

  /** Replaces the whole list. Returns its serial. Rejects if another operator was first. */
  async publish(
    entries: readonly NewEntry[],
    before: { readonly index: Index; readonly revision: number } | undefined,
    by: string,
    pem: string,
  ): Promise<number> {
    const plugins: Record<string, string> = {};
    for (const { entry, files } of entries) {
      const text = entryText(entry);
      const digest = entryDigest(text);
      plugins[entry.id] = digest;
      if (before?.index.plugins[entry.id] !== digest) await this.#put({ entry, files }, text, digest);
    }
    const serial = (before?.index.serial ?? 0) + 1;
    const signed = signIndex({ version: 1, serial, at: new Date().toISOString(), by, plugins }, pem);
    const revision = await this.#lock.put(LIST, Buffer.from(JSON.stringify(signed)), before?.revision ?? 0);
    if (revision === undefined) throw new CreelError("ERR_FLEET_RACE");
    return serial;
  }

  /** Puts back what is missing or has other bytes than the list says. Returns the plugins that it was done for. */
  async repair(entries: readonly NewEntry[]): Promise<string[]> {
    const repaired: string[] = [];
    for (const { entry, files } of entries) {
      const text = entryText(entry);
      if (await this.#put({ entry, files }, text, entryDigest(text))) repaired.push(entry.id);
    }
    return repaired;
  }

  /** False: all of it was there. */
  async #put({ entry, files }: NewEntry, text: string, digest: string): Promise<boolean> {
    const isNew = await putBundle(this.#bundles, entry.store, await files());
    const key = `entry.${digest}`;
    const found = await this.#lock.get(key);
    if (found && Buffer.from(found.bytes).equals(Buffer.from(text))) return isNew;
    if ((await this.#lock.put(key, Buffer.from(text), found?.revision ?? 0)) === undefined) throw new CreelError("ERR_FLEET_RACE");
    return true;
  }
}

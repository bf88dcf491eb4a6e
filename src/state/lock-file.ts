/**
 * Trusted side: `creel.lock` as a file. It is read whole or not at all and replaced in one step, which commits a change
 * of the state. The same data always has the same text, so every byte counts, blanks included.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { suggest } from "../text/did-you-mean.ts";
import { firstIssue } from "../text/schema-issue.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { grantsDigest, LOCK_VERSION, lockContent, sealOf, sorted } from "./lock.ts";
import type { LockEntry, SealKey } from "./lock.ts";
import { replaceFile } from "./durable.ts";

export const LOCK_FILE = "creel.lock";
export type Entries = ReadonlyMap<string, LockEntry>;

const someVersion = z.looseObject({ version: z.number() });
/** A lock is checked once: code that is made for a check takes a command longer than the check. */
const ONCE = { jitless: true } as const;

export function unknownPlugin(plugin: string, installed: Entries): CreelError {
  return new CreelError("ERR_STATE_UNKNOWN", { plugin, hint: suggest(plugin, [...installed.keys()]) });
}

/**
 * Needs no mutex: a file that is replaced in one step is always the old one or the new one. A missing lock is an empty
 * one, unless plugins were installed before.
 */
export async function readLock(dir: string, key: SealKey): Promise<Entries> {
  const path = join(dir, LOCK_FILE);
  // The first writer makes the lock before the store: if this read only missed the lock, it exists now.
  const bytes = (await bytesOf(path)) ?? ((await isFolder(join(dir, "store"))) ? await bytesOf(path) : undefined);
  if (bytes) return parseLock(bytes, path, key);
  if (await isFolder(join(dir, "store"))) throw fault(path, "(whole file)", "it is missing, although plugins were installed");
  return new Map();
}

export function writeLock(dir: string, entries: Entries, key: SealKey): void {
  const bytes = Buffer.from(lockText(entries, key));
  const path = join(dir, LOCK_FILE);
  // Never write a lock that cannot be read back.
  parseLock(bytes, path, key);
  replaceFile(path, bytes, join(dir, "staging"), 0o600);
}

export function lockText(entries: Entries, key: SealKey): string {
  const plugins = Object.fromEntries(entries);
  const seal = sealOf(sealed(plugins), key);
  return `${JSON.stringify(sorted({ version: LOCK_VERSION, plugins, seal }), undefined, 2)}\n`;
}

/** The seal of an entry stands for the entry. */
function sealed(plugins: Readonly<Record<string, LockEntry>>): unknown {
  return { version: LOCK_VERSION, plugins: Object.fromEntries(Object.entries(plugins).map(([id, entry]) => [id, entry.seal])) };
}

export function parseLock(bytes: Uint8Array, file: string, key: SealKey): Entries {
  const refuse = (field: string, detail: string): never => {
    throw fault(file, field, detail);
  };
  if (bytes.length > LIMITS.state.lockBytes) refuse("(whole file)", `it has ${bytes.length} bytes, the limit is ${LIMITS.state.lockBytes}`);
  const value = jsonOf(bytes, refuse);
  const any = someVersion.safeParse(value, ONCE);
  if (any.success && any.data.version > LOCK_VERSION)
    throw new CreelError("ERR_STATE_VERSION", { file, found: any.data.version, known: LOCK_VERSION });
  const parsed = lockContent.safeParse(value, ONCE);
  if (!parsed.success) {
    const { field, detail } = firstIssue(parsed.error);
    return refuse(field, detail);
  }
  const { plugins, seal } = parsed.data;
  const entries = new Map(Object.entries(plugins));
  if (entries.size > LIMITS.state.installedPlugins)
    refuse("plugins", `there are ${entries.size}, the limit is ${LIMITS.state.installedPlugins}`);
  // SECURITY: a lock that was changed is rejected as a whole. test/state/lock.test.ts
  for (const [id, { seal: own, ...entry }] of entries) {
    if (entry.id !== id) refuse(`plugins.${id}.id`, `it is the entry of "${entry.id}"`);
    if (entry.grantsDigest !== grantsDigest(entry)) refuse(`plugins.${id}.grants`, "they differ from the accepted ones");
    if (own !== sealOf(entry, key)) refuse(`plugins.${id}`, sealFault(own, key));
  }
  if (seal !== sealOf(sealed(plugins), key)) refuse("plugins", sealFault(seal, key));
  if (!Buffer.from(lockText(entries, key)).equals(bytes)) refuse("(whole file)", "its text was changed, but not its content");
  return entries;
}

function jsonOf(bytes: Uint8Array, refuse: (field: string, detail: string) => never): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    return refuse("(whole file)", (error as Error).message);
  }
}

function sealFault(seal: string, key: SealKey): string {
  const isKeyed = seal.startsWith("hmac-");
  if (isKeyed && !key) return "it is sealed with a key, but no key was given";
  if (!isKeyed && key) return "it is not sealed with a key, but a key was given";
  return key ? "it was changed, or sealed with another key" : "it was changed";
}

function fault(file: string, field: string, detail: string): CreelError {
  return new CreelError("ERR_STATE_LOCK", { file, field, detail });
}

async function bytesOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

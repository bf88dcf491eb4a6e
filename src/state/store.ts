/**
 * Trusted side: the files of installed plugins, by content. The name of a folder in `store` is the digest of its
 * `SHA256SUMS`, which lists the digest of every other file in it. So `sha256sum -c SHA256SUMS` in the folder and
 * `sha256sum SHA256SUMS` for its name are the whole check. A folder never changes. Its files are read-only, against
 * accidents; the folders are not, or `rm -r` would fail.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFile,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { randomName, syncFolder, writeDurably } from "./durable.ts";

/** Content, or a file that has it. */
export type Content = Uint8Array | { readonly path: string };
export type Files = ReadonlyMap<string, Content>;

const SUMS = "SHA256SUMS";
const NAME = /^sha256-[0-9a-f]{64}$/;
const SUM = /^([0-9a-f]{64}) {2}(.+)$/;

function hex(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Names without these: `SHA256SUMS` escapes them, and paths give them a meaning. */
function nameFault(name: string): string | undefined {
  if (name.length > LIMITS.files.pathChars) return "is too long";
  if (/[\p{Cc}\\]/u.test(name) || !name.isWellFormed()) return "has characters that are not allowed in file names";
  const parts = name.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "is not a relative path";
  return name === SUMS ? "is reserved by Creel" : undefined;
}

/** What is wrong with the files, as the field and detail of an error. */
export function filesFault(files: Files): { field: string; detail: string } | undefined {
  if (files.size > LIMITS.state.storedFiles)
    return { field: "files", detail: `there are ${files.size}, the limit is ${LIMITS.state.storedFiles}` };
  let bytes = 0;
  const seen = new Set<string>();
  for (const [name, content] of files) {
    const detail = nameFault(name);
    if (detail) return { field: `files.${JSON.stringify(name)}`, detail };
    // Some file systems do not tell these apart.
    const folded = name.normalize("NFC").toLowerCase();
    if (seen.has(folded)) return { field: `files.${JSON.stringify(name)}`, detail: "exists twice, with different case" };
    seen.add(folded);
    bytes += "path" in content ? statSync(content.path).size : content.length;
  }
  return bytes > LIMITS.state.storedBytes
    ? { field: "files", detail: `they have ${bytes} bytes, the limit is ${LIMITS.state.storedBytes}` }
    : undefined;
}

export function bytesOf(content: Content): Uint8Array {
  if (!("path" in content)) return content;
  const file = openSync(content.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Puts the files into the store and returns the name of their folder. No reader sees it before it is whole. */
export async function place(dir: string, files: Files): Promise<string> {
  const made = join(dir, "staging", randomName());
  const folders = new Set([made]);
  const write = (file: string, content: string | Uint8Array): void => {
    const path = join(made, file);
    mkdirSync(dirname(path), { recursive: true });
    for (let folder = dirname(path); folder !== made; folder = dirname(folder)) folders.add(folder);
    writeDurably(path, content, 0o444);
  };
  const sums: string[] = [];
  for (const [file, content] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    // Read once: what is listed is what is written.
    const bytes = bytesOf(content);
    write(file, bytes);
    sums.push(`${hex(bytes)}  ${file}\n`);
  }
  write(SUMS, sums.join(""));
  for (const folder of folders) syncFolder(folder);
  const name = `sha256-${hex(sums.join(""))}`;
  const target = join(dir, "store", name);
  if (isFolder(target)) {
    if (await isWhole(dir, name)) {
      // A process that was killed had put it there already.
      rmSync(made, { recursive: true, force: true });
      return name;
    }
    // It is damaged, so no reader can load it: a moment without it is no loss.
    const damaged = join(dir, "staging", randomName());
    renameSync(target, damaged);
    rmSync(damaged, { recursive: true, force: true });
  }
  renameSync(made, target);
  syncFolder(dirname(target));
  return name;
}

async function isWhole(dir: string, name: string): Promise<boolean> {
  try {
    await readStored(dir, name, () => false);
    return true;
  } catch (error) {
    if (error instanceof CreelError) return false;
    throw error;
  }
}

/**
 * The files, each compared with its digest: one byte more or less, and it returns nothing. Reads once, so that what it
 * returns is what it compared. SECURITY: test/state/state.test.ts flips bytes, adds, removes and links files.
 */
export async function readStored(dir: string, name: string, isWanted: (file: string) => boolean): Promise<Map<string, Buffer>> {
  const folder = join(dir, "store", name);
  const list = await contentOf(folder, SUMS);
  if (`sha256-${hex(list)}` !== name) throw changed(folder, SUMS, DIFFERS);
  const sums = new Map(parseSums(list.toString()));
  const found = new Map<string, Buffer>();
  for (const [file, sum] of sums) {
    const content = await contentOf(folder, file);
    if (hex(content) !== sum) throw changed(folder, file, DIFFERS);
    if (isWanted(file)) found.set(file, content);
  }
  for (const file of await namesIn(folder))
    if (file !== SUMS && !sums.has(file)) throw changed(folder, file, "was added after the installation");
  return found;
}

/** The intact files of a folder that was tampered with. None, if the list itself was. */
export async function readIntact(dir: string, name: string): Promise<Map<string, Buffer>> {
  const folder = join(dir, "store", name);
  const found = new Map<string, Buffer>();
  const read = (file: string): Promise<Buffer | undefined> =>
    contentOf(folder, file).catch((error: unknown) => {
      if (error instanceof CreelError) return undefined;
      throw error;
    });
  const list = await read(SUMS);
  if (!list || `sha256-${hex(list)}` !== name) return found;
  for (const [file, sum] of parseSums(list.toString())) {
    const content = await read(file);
    if (content && hex(content) === sum) found.set(file, content);
  }
  return found;
}

/** Everything below it but folders. */
async function namesIn(folder: string, below = ""): Promise<string[]> {
  const names: string[] = [];
  await breathe();
  try {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      const name = below + entry.name;
      if (entry.isDirectory()) names.push(...(await namesIn(folder, `${name}/`)));
      else names.push(name);
    }
  } catch (error) {
    throw missing(error) ? changed(folder, SUMS, "is missing") : error;
  }
  return names;
}

let lastTurnMs = 0;

/** Synchronous reads block the event loop, so yield now and then. */
async function breathe(): Promise<void> {
  if (performance.now() - lastTurnMs < LIMITS.state.readingMs) return;
  await setImmediate();
  lastTurnMs = performance.now();
}

function missing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

const DIFFERS = "differs from what was installed";

function* parseSums(list: string): Generator<[file: string, sum: string]> {
  for (const line of list.split("\n")) {
    const [, sum, file] = SUM.exec(line) ?? [];
    if (sum !== undefined && file !== undefined) yield [file, sum];
  }
}

const readLarge = promisify(readFile);

/**
 * Reads small files synchronously: four calls on other threads for each file would take four to ten times as much of
 * the gateway's own thread (measured with a thousand files, which is two hundred plugins).
 */
async function contentOf(folder: string, file: string): Promise<Buffer> {
  await breathe();
  try {
    const fd = openSync(join(folder, file), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) throw changed(folder, file, "is no longer a file");
      if (stats.size > LIMITS.state.storedBytes) throw changed(folder, file, DIFFERS);
      return stats.size > LIMITS.state.readAtOnceBytes ? await readLarge(fd) : readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (missing(error)) throw changed(folder, file, "is missing");
    if ((error as NodeJS.ErrnoException).code === "ELOOP") throw changed(folder, file, "is no longer a file");
    throw error;
  }
}

function changed(folder: string, file: string, detail: string): CreelError {
  return new CreelError("ERR_STATE_CHANGED", { file: join(folder, file), detail });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Requires the mutex. Everything in `staging` is left from a process that did not finish. */
export function clearStaging(dir: string): void {
  for (const name of readdirSync(join(dir, "staging"))) rmSync(join(dir, "staging", name), { recursive: true, force: true });
}

/**
 * Requires the mutex. Removes what no plugin refers to. Readers hold no lock and may have read the lock a moment ago,
 * so a folder is first marked in `retired` and removed when the mark is old. Returns the number of removed folders.
 */
export function collect(dir: string, used: ReadonlySet<string>, retiredMs: number): number {
  const store = join(dir, "store");
  const retired = join(dir, "retired");
  const stored = readdirSync(store).filter((name) => NAME.test(name));
  for (const name of readdirSync(retired)) if (used.has(name) || !stored.includes(name)) rmSync(join(retired, name), { force: true });
  let removed = 0;
  for (const name of stored) {
    if (used.has(name)) continue;
    const mark = join(retired, name);
    const since = statSync(mark, { throwIfNoEntry: false })?.mtimeMs;
    if (since === undefined) writeFileSync(mark, "");
    if (since === undefined ? retiredMs > 0 : Date.now() - since < retiredMs) continue;
    // One step hides it from readers, since removing takes many.
    const rubbish = join(dir, "staging", randomName());
    renameSync(join(store, name), rubbish);
    rmSync(rubbish, { recursive: true, force: true });
    rmSync(mark, { force: true });
    removed += 1;
  }
  return removed;
}

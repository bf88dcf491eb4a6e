/**
 * Trusted side: edits `creel.json` in place. Keeps the operator's comments and order, changes only what is requested,
 * and writes nothing that could not be read back. If another process changes the file during the edit, the edit is
 * applied to the new content. A change in the microseconds between the last read and the rename is lost, because
 * editors know no lock of ours. Creel's own processes avoid this by editing inside a transaction of the state.
 */
import { chmodSync, chownSync, linkSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { firstIssue } from "../../text/schema-issue.ts";
import { creelConfig } from "../../protocol/config/config.ts";
import { CreelError } from "../../protocol/errors.ts";
import { parseJsonc } from "../../text/jsonc.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { randomName, syncFolder, writeDurably } from "../../state/durable.ts";
import { PathError, removeIn, setIn } from "./jsonc-edit.ts";
import type { JsonPath } from "./jsonc-edit.ts";

export type ConfigEdit = { readonly path: JsonPath; readonly value: unknown } | { readonly path: JsonPath; readonly remove: true };

const NEW = "{}\n";

/**
 * `edits` are computed from the current content, possibly several times. Creates a missing file. True: it has changed.
 */
export function editConfig(file: string, edits: (config: unknown) => readonly ConfigEdit[]): boolean {
  for (let tries = 0; tries < LIMITS.state.configTries; tries++) {
    // A link stays one.
    const path = attempt(file, () => target(file));
    const before = attempt(file, () => contentOf(path));
    const text = before ? decoded(file, before) : NEW;
    const after = Buffer.from(edited(file, text, edits(parsed(file, text))));
    if (before?.equals(after)) return false;
    if (attempt(file, () => replaced(path, before, after))) return true;
  }
  throw new CreelError("ERR_CONFIG_EDIT", { source: file, field: "(whole file)", detail: "another process keeps changing it" });
}

function edited(file: string, text: string, edits: readonly ConfigEdit[]): string {
  let after = text;
  for (const edit of edits) {
    try {
      after = "remove" in edit ? removeIn(after, edit.path) : setIn(after, edit.path, edit.value);
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
      throw new CreelError("ERR_CONFIG_EDIT", { source: file, field: edit.path.join("."), detail: error.message });
    }
  }
  const checked = creelConfig.safeParse(parsed(file, after));
  if (!checked.success) throw new CreelError("ERR_CONFIG_INVALID", { source: file, ...firstIssue(checked.error) });
  return after;
}

/** False: the file has changed since, and nothing was written. */
function replaced(path: string, before: Buffer | undefined, after: Buffer): boolean {
  const temporary = join(dirname(path), `.${basename(path)}.${randomName()}`);
  try {
    writeDurably(temporary, after, 0o666);
    if (before) {
      const { mode, uid, gid } = statSync(path);
      giveAway(temporary, uid, gid);
      chmodSync(temporary, mode & 0o7777);
      if (!contentOf(path)?.equals(before)) return false;
      renameSync(temporary, path);
    } else linkSync(temporary, path);
    syncFolder(dirname(path));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process created or removed it.
    if (before ? code === "ENOENT" : code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Only root may do that, and only root needs to. */
function giveAway(path: string, uid: number, gid: number): void {
  const own = statSync(path);
  if (own.uid === uid && own.gid === gid) return;
  try {
    chownSync(path, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}

function target(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return resolve(file);
    throw error;
  }
}

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function decoded(source: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CreelError("ERR_CONFIG_READ", { source, detail: "it is not UTF-8" });
  }
}

function parsed(source: string, text: string): unknown {
  try {
    return parseJsonc(text);
  } catch (error) {
    throw new CreelError("ERR_CONFIG_READ", { source, detail: (error as Error).message });
  }
}

function attempt<T>(source: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CreelError("ERR_CONFIG_EDIT", { source, field: "(whole file)", detail: (error as Error).message }, { cause: error });
  }
}

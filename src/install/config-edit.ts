/**
 * Trusted side: edits `creel.json` in place. It is the operator's file, with their comments and their order: only what is asked for changes,
 * and nothing is written that could not be read back. If somebody else writes it meanwhile, what they wrote is read, and the edit is made to that.
 *
 * Between the last look and the replacement are some microseconds that nobody guards: an editor knows no lock of ours. Processes of Creel keep out of
 * each other's way by doing this inside a transaction of the state.
 */
import { chmodSync, chownSync, linkSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { firstIssue } from "../host/issues.ts";
import { creelConfig } from "../protocol/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { parseJsonc } from "../protocol/jsonc.ts";
import { LIMITS } from "../protocol/limits.ts";
import { randomName, syncFolder, writeDurably } from "../state/durable.ts";
import { PathError, removeIn, setIn } from "./jsonc-edit.ts";
import type { JsonPath } from "./jsonc-edit.ts";

export type ConfigEdit = { readonly path: JsonPath; readonly value: unknown } | { readonly path: JsonPath; readonly remove: true };

const NEW = "{}\n";

/** `edits` follow from what the file says now; they may be asked for again. A file that is not there is made. True: it has changed. */
export function editConfig(file: string, edits: (config: unknown) => readonly ConfigEdit[]): boolean {
  for (let tries = 0; tries < LIMITS.configTries; tries++) {
    // A link stays one.
    const path = attempt(file, () => target(file));
    const before = attempt(file, () => contentOf(path));
    const text = before ? decoded(file, before) : NEW;
    const after = Buffer.from(edited(file, text, edits(parsed(file, text))));
    if (before?.equals(after)) return false;
    if (attempt(file, () => replaced(path, before, after))) return true;
  }
  throw new CreelError("ERR_CONFIG_EDIT", { source: file, field: "(whole file)", detail: "somebody else keeps writing it" });
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

/** False: it is not any more what it was before, and nothing has happened. */
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
    // Somebody else has made it, or has removed it.
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

/**
 * Trusted side: what an entry of an archive may be called. A name must mean the same file on every machine, and none outside of the
 * package: else what was reviewed on one is not what runs on another.
 */
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { printable } from "./printable.ts";

export interface EntryPath {
  /** The folder that all entries lie in; npm leaves it away, whatever it is called. */
  readonly root: string;
  /** Below it. Empty: the entry is that folder. */
  readonly segments: readonly string[];
}

/** Windows opens a device for these, whatever the extension. */
export const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?$/i;
/** Controls, what is not seen (it turns the text around, has no width, or changes the letter before it), what has no meaning of its own, other line breaks. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}]/u;
const FORBIDDEN_ON_WINDOWS = /[<>:"|?*\\]/;

export function entryPath(name: string, kind: "file" | "folder", depth: number): EntryPath {
  const entry = printable(name);
  const leaves = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_PATH", { entry, detail });
  const strange = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_NAME", { entry, detail });
  if (Buffer.byteLength(name) > LIMITS.archivePathBytes) throw strange(`it has more than ${LIMITS.archivePathBytes} bytes`);
  // SECURITY: one test per rule. test/install/archives.test.ts "hostile archives"
  if (/^[/\\]/.test(name)) throw leaves("its path is absolute");
  if (/^[A-Za-z]:/.test(name)) throw leaves("its path begins with a drive");
  const path = kind === "folder" && name.endsWith("/") ? name.slice(0, -1) : name;
  const all = path.split("/");
  for (const segment of all) {
    if (/(?:^|\\)\.\.(?:\\|$)/.test(segment)) throw leaves('it has ".." in its path');
    if (UNSEEN.test(segment)) throw strange("it has characters that are not seen");
    if (segment === "" || segment === ".") throw strange('it has "." or nothing between two slashes');
    if (FORBIDDEN_ON_WINDOWS.test(segment)) throw strange("it has characters that Windows does not allow");
    if (/[. ]$/.test(segment)) throw strange("a part of it ends with a dot or a space, which Windows leaves away");
    if (DEVICE.test(segment)) throw strange("a part of it is the name of a device on Windows");
    if (Buffer.byteLength(segment) > LIMITS.archiveNameBytes) throw strange(`a part of it has more than ${LIMITS.archiveNameBytes} bytes`);
  }
  const [root, ...segments] = all;
  if (segments.length === 0 && kind === "file") throw new CreelError("ERR_ARCHIVE_ROOT", { entry, detail: "lies in no folder" });
  if (segments.length > depth)
    throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: depth, what: `folders inside each other, at "${entry}"` });
  return { root: root!, segments };
}

/** Equal for names that are one file on some file system: those that ignore case, how an accent is written, or the width of a letter. */
export function foldedName(name: string): string {
  return name.normalize("NFKD").toLowerCase().toUpperCase().toLowerCase().normalize("NFKD");
}

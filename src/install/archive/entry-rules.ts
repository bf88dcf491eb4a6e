/**
 * Trusted side: which names an archive entry may have. A name must mean the same file on every machine, inside the
 * package. Otherwise the reviewed file is not the one that runs.
 */
import { isDangerous } from "../../protocol/dangerous-text.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { printable } from "../../text/printable.ts";

export interface EntryPath {
  /** The folder that holds all entries. npm drops it, and its name has no meaning. */
  readonly root: string;
  /** Below it. Empty: the entry is that folder. */
  readonly segments: readonly string[];
}

/** Windows opens a device for these names, with any extension. */
export const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?$/i;
const FORBIDDEN_ON_WINDOWS = /[<>:"|?*\\]/;

export function entryPath(name: string, kind: "file" | "folder", depth: number): EntryPath {
  const entry = printable(name);
  const leaves = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_PATH", { entry, detail });
  const strange = (detail: string): CreelError => new CreelError("ERR_ARCHIVE_NAME", { entry, detail });
  if (Buffer.byteLength(name) > LIMITS.install.archivePathBytes) throw strange(`it has more than ${LIMITS.install.archivePathBytes} bytes`);
  // SECURITY: one test per rule. test/install/archive/archives.test.ts "hostile archives"
  if (/^[/\\]/.test(name)) throw leaves("its path is absolute");
  if (/^[A-Za-z]:/.test(name)) throw leaves("its path begins with a drive");
  const path = kind === "folder" && name.endsWith("/") ? name.slice(0, -1) : name;
  // npm drops the first part, whatever it is, and then reads "." as the folder itself.
  const all = path.split("/").filter((segment, at) => at === 0 || segment !== ".");
  for (const segment of all) {
    if (/(?:^|\\)\.\.(?:\\|$)/.test(segment)) throw leaves('it has ".." in its path');
    if (isDangerous(segment)) throw strange("it has invisible characters");
    if (segment === "" || segment === ".") throw strange('it has "." or an empty segment in its path');
    if (FORBIDDEN_ON_WINDOWS.test(segment)) throw strange("it has characters that Windows does not allow");
    if (/[. ]$/.test(segment)) throw strange("a part of it ends with a dot or a space, which Windows drops");
    if (DEVICE.test(segment)) throw strange("a part of it is the name of a device on Windows");
    if (Buffer.byteLength(segment) > LIMITS.install.archiveNameBytes)
      throw strange(`a part of it has more than ${LIMITS.install.archiveNameBytes} bytes`);
  }
  const [root, ...segments] = all;
  if (segments.length === 0 && kind === "file") throw new CreelError("ERR_ARCHIVE_ROOT", { entry, detail: "is in no folder" });
  if (segments.length > depth)
    throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: depth, what: `folders inside each other, at "${entry}"` });
  return { root: root!, segments };
}

/** Equal for names that are the same file on some file system: those that ignore case, accents or letter width. */
export function foldedName(name: string): string {
  return name.normalize("NFKD").toLowerCase().toUpperCase().toLowerCase().normalize("NFKD");
}

/** Trusted side: the files and folders of an archive so far, to detect collisions. */
import { CreelError } from "../../protocol/errors.ts";
import { foldedName } from "./entry-rules.ts";
import { printable } from "../../text/printable.ts";

interface Node {
  /** As it was first written. */
  readonly path: string;
  readonly kind: "file" | "folder";
  /** It has its own entry. */
  isDeclared: boolean;
}

export class ArchiveTree {
  readonly #nodes = new Map<string, Node>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The folders that have to be made for it, the outermost first. */
  add(segments: readonly string[], kind: "file" | "folder"): string[] {
    const folders: string[] = [];
    let path = "";
    let key = "";
    for (const [i, segment] of segments.entries()) {
      path += (i > 0 ? "/" : "") + segment;
      key += `/${foldedName(segment)}`;
      const isLast = i === segments.length - 1;
      const entryKind = isLast ? kind : "folder";
      const found = this.#nodes.get(key);
      if (found) {
        meet(found, path, entryKind, isLast);
        found.isDeclared ||= isLast;
        continue;
      }
      // SECURITY: folders without an entry count too; each entry could create as many as the depth allows.
      // test/install/archive/archives.test.ts
      if (this.#nodes.size >= this.#limit) throw new CreelError("ERR_ARCHIVE_LIMIT", { limit: this.#limit, what: "files and folders" });
      this.#nodes.set(key, { path, kind: entryKind, isDeclared: isLast });
      if (entryKind === "folder") folders.push(path);
    }
    return folders;
  }
}

function meet(found: Node, path: string, kind: "file" | "folder", isLast: boolean): void {
  const refuse = (detail: string): CreelError =>
    new CreelError("ERR_ARCHIVE_COLLISION", { entry: printable(path), other: printable(found.path), detail });
  if (found.path !== path) throw refuse("they are the same name on some file systems");
  if (found.kind !== kind) throw refuse("one is a file, the other a folder");
  if (kind === "file" || (isLast && found.isDeclared)) throw refuse("the name occurs twice");
}

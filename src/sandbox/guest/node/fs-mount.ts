/** Inside the isolate: a part of the tree with rules of its own: who may write to it, how much fits, and who is told. */
import { LIMITS } from "../../../protocol/limits.ts";
import { faultOfPath } from "../../../protocol/volume.ts";
import { Fault } from "./fs-errors.ts";
import type { Journal } from "./fs-journal.ts";
import { newFolder, pathBelow } from "./fs-node.ts";
import type { Entry, Folder } from "./fs-node.ts";

export interface MountRules {
  /** Why nothing may be written to it. */
  readonly locked?: Fault;
  readonly maxBytes: number;
  readonly maxFiles: number;
  readonly journal?: Journal;
}

export class Mount {
  readonly root: Folder;
  readonly rules: MountRules;
  #bytes = 0;
  #files = 0;
  #paths = 0;

  constructor(name: string, rules: MountRules) {
    this.rules = rules;
    this.root = newFolder(this, name, rules.locked ? 0o40555 : 0o40755, Date.now());
  }

  get journal(): Journal | undefined {
    return this.rules.journal;
  }

  /** Throws unless it may be written to. */
  unlock(): void {
    if (this.rules.locked) throw this.rules.locked;
    this.journal?.check();
  }

  /** Where it would be, below the root. Throws if the host would not have it there. */
  placeFor(parent: Folder, name: string): string {
    const path = parent === this.root ? name : `${pathBelow(this.root, parent)}/${name}`;
    const fault = faultOfPath(path);
    if (fault) throw new Fault(fault);
    return path;
  }

  /** Room for so many more bytes. */
  grow(bytes: number): void {
    const { maxBytes } = this.rules;
    if (bytes > 0 && this.#bytes + bytes > maxBytes) throw new Fault("ENOSPC", `${maxBytes} bytes may be written here`);
    this.#bytes += bytes;
  }

  /** Room for so many more files, with paths of so many characters in all. */
  count(files: number, chars: number): void {
    const { maxFiles } = this.rules;
    if (files > 0 && this.#files + files > maxFiles) throw new Fault("ENOSPC", `${maxFiles} files may be made here`);
    if (chars > 0 && this.#paths + chars > LIMITS.volumePathsChars) throw new Fault("ENOSPC", "the names of all files are too long");
    this.#files += files;
    this.#paths += chars;
  }

  /** Takes something in without asking: it was there before. */
  tally(entry: Entry): void {
    if (entry.kind === "file") this.#bytes += entry.content.size;
    this.#files += 1;
    this.#paths += pathBelow(this.root, entry).length;
  }
}

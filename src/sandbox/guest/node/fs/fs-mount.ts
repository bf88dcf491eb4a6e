/**
 * Inside the isolate: a part of the tree with its own rules: whether it is writable, how much fits, and where changes
 * are sent.
 */
import { LIMITS } from "../../../../protocol/limits.ts";
import { faultOfPath } from "../../../../protocol/messages/files.ts";
import { Fault } from "./fs-errors.ts";
import type { ChangeQueue } from "./fs-change-queue.ts";
import { newFolder, pathBelow } from "./fs-node.ts";
import type { Entry, Folder } from "./fs-node.ts";

export interface MountRules {
  /** Why nothing may be written to it. */
  readonly locked?: Fault;
  readonly maxBytes: number;
  readonly maxFiles: number;
  readonly queue?: ChangeQueue;
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

  get queue(): ChangeQueue | undefined {
    return this.rules.queue;
  }

  /** Throws unless it is writable now. */
  unlock(): void {
    if (this.rules.locked) throw this.rules.locked;
    this.queue?.check();
  }

  /** The path below the root. Throws if the host would refuse it. */
  placeFor(parent: Folder, name: string): string {
    const path = parent === this.root ? name : `${pathBelow(this.root, parent)}/${name}`;
    const fault = faultOfPath(path);
    if (fault) throw new Fault(fault);
    return path;
  }

  /** Takes room for more bytes. Throws if there is none. */
  grow(bytes: number): void {
    const { maxBytes } = this.rules;
    if (bytes > 0 && this.#bytes + bytes > maxBytes) throw new Fault("ENOSPC", `${maxBytes} bytes may be written here`);
    this.#bytes += bytes;
  }

  /** Takes room for more files, whose paths have so many characters in all. */
  count(files: number, chars: number): void {
    const { maxFiles } = this.rules;
    if (files > 0 && this.#files + files > maxFiles) throw new Fault("ENOSPC", `${maxFiles} files may be made here`);
    if (chars > 0 && this.#paths + chars > LIMITS.files.pathsChars) throw new Fault("ENOSPC", "the names of all files are too long");
    this.#files += files;
    this.#paths += chars;
  }

  /** Counts an entry that was there from the start, without checks. */
  countIn(entry: Entry): void {
    if (entry.kind === "file") this.#bytes += entry.content.size;
    this.#files += 1;
    this.#paths += pathBelow(this.root, entry).length;
  }
}

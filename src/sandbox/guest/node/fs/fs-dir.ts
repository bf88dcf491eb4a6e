/** Inside the isolate: `fs.Dir`, a folder that is read entry by entry. It lists all of them when it is opened. */
import type { Dirent } from "./fs-stats.ts";
import { sync } from "./fs-sync.ts";

export class Dir {
  readonly path: string;
  readonly #entries: Dirent[];

  constructor(path: unknown) {
    this.#entries = sync.readdir(path, { withFileTypes: true }) as Dirent[];
    this.path = String(path);
  }

  readSync(): Dirent | null {
    return this.#entries.shift() ?? null;
  }

  read(): Promise<Dirent | null> {
    return Promise.resolve(this.readSync());
  }

  closeSync(): void {
    this.#entries.length = 0;
  }

  close(): Promise<void> {
    this.closeSync();
    return Promise.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Dirent> {
    for (let entry = this.readSync(); entry; entry = this.readSync()) yield entry;
  }
}

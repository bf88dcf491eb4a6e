/**
 * Waits for changes below a folder. Node's recursive watch would also follow `node_modules`; this one skips packages
 * and hidden folders, and finds new folders after each change.
 */
import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** An editor writes a file in several steps, and "save all" several files. */
const QUIET_MS = 80;

export class Watch implements Disposable {
  readonly #root: string;
  readonly #folders = new Map<string, FSWatcher>();
  #changed: PromiseWithResolvers<boolean> = Promise.withResolvers();
  #quiet: NodeJS.Timeout | undefined;
  #isOver = false;

  static async on(root: string): Promise<Watch> {
    const made = new Watch(root);
    await made.#watchBelow(root);
    return made;
  }

  private constructor(root: string) {
    this.#root = root;
  }

  /** Those that are watched. */
  get folders(): string[] {
    return [...this.#folders.keys()];
  }

  /** True after a change that came since the last time; false: the watch is over. */
  async next(): Promise<boolean> {
    const isChanged = !this.#isOver && (await this.#changed.promise);
    this.#changed = Promise.withResolvers();
    if (isChanged) await this.#watchBelow(this.#root);
    return isChanged && !this.#isOver;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#quiet);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
    this.#changed.resolve(false);
  }

  async #watchBelow(folder: string): Promise<void> {
    if (this.#isOver) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (!entries || this.#isOver) return;
    if (!this.#folders.has(folder)) this.#folders.set(folder, this.#watchFolder(folder));
    const below = entries.filter((entry) => entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith("."));
    await Promise.all(below.map(({ name }) => this.#watchBelow(join(folder, name))));
  }

  #watchFolder(folder: string): FSWatcher {
    const watcher = watch(folder, () => {
      clearTimeout(this.#quiet);
      this.#quiet = setTimeout(() => this.#changed.resolve(true), QUIET_MS);
    });
    // The folder was deleted; the watch of its parent reports that.
    return watcher.on("error", () => {
      watcher.close();
      this.#folders.delete(folder);
    });
  }
}

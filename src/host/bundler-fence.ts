/**
 * Bundler process: reads the files of a bundle, and only those that are the plugin's to read: of its own folder, and of packages.
 * `import key from "/home/operator/key.json"` would otherwise put the operator's file into the plugin.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { relative, sep } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";

export class Fence {
  readonly #root: string | undefined;
  readonly #cwd: string;
  readonly #read = new Set<string>();
  #bytes = 0;

  constructor(cwd: string, root: string | undefined) {
    this.#cwd = realpathSync(cwd);
    this.#root = root && realpathSync(root) + sep;
  }

  /** How many files were read. */
  get files(): number {
    return this.#read.size;
  }

  /** Those that were read of the plugin's folder, without packages. */
  own(): string[] {
    return [...this.#read].filter((path) => !isPackaged(path));
  }

  /** The bundler never reads a file by itself: what is not given to it here is not in the bundle. */
  read(id: string): string {
    const name = relative(this.#cwd, id);
    let path: string;
    let isFile: boolean;
    try {
      path = realpathSync(id);
      const stats = statSync(path);
      isFile = stats.isFile();
      // It is asked for once more if the bundle is made in two parts.
      if (!this.#read.has(path)) this.#bytes += stats.size;
    } catch (error) {
      throw refusal(`${name} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
    }
    // SECURITY: of the file itself, not of a link to it. test/host/bundler.test.ts
    if (!isFile || !this.#isInside(path)) throw refusal(`${name} is not a file of the plugin's folder, or of a package in node_modules`);
    if (this.#bytes > LIMITS.bundleInputBytes) throw refusal(`its files have more than ${LIMITS.bundleInputBytes} bytes`);
    this.#read.add(path);
    return readFileSync(path, "utf8");
  }

  #isInside(path: string): boolean {
    return isPackaged(path) || (this.#root !== undefined && path.startsWith(this.#root));
  }
}

function isPackaged(path: string): boolean {
  return path.includes(`${sep}node_modules${sep}`);
}

function refusal(detail: string): CreelError {
  return new CreelError("ERR_PLUGIN_BUNDLE", { detail });
}

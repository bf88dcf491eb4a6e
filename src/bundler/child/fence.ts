/**
 * Bundler child process: reads the files of a bundle, and only those that the plugin may read: of its own folder and of
 * packages. Otherwise `import key from "/home/operator/key.json"` would put the operator's file into the plugin.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { relative, sep } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";

export class Fence {
  readonly #root: string | undefined;
  readonly #cwd: string;
  readonly #read = new Set<string>();
  readonly #packages = new Map<string, number>();
  #bytes = 0;

  constructor(cwd: string, root: string | undefined) {
    this.#cwd = realpathSync(cwd);
    this.#root = root && realpathSync(root) + sep;
  }

  /** The number of files that were read. */
  get files(): number {
    return this.#read.size;
  }

  /** Files of the plugin's folder that were read, without packages. */
  own(): string[] {
    return [...this.#read].filter((path) => !isPackaged(path));
  }

  /** The bundler reads no file by itself: only what it gets here is in the bundle. */
  read(id: string): string {
    const name = relative(this.#cwd, id);
    let path: string;
    let isFile: boolean;
    try {
      path = realpathSync(id);
      const stats = statSync(path);
      isFile = stats.isFile();
      // A bundle in two parts requests a file twice.
      if (!this.#read.has(path)) this.#count(path, stats.size);
    } catch (error) {
      throw refusal(`${name} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
    }
    // SECURITY: check the file itself, not a link to it. test/bundler/bundler.test.ts
    if (!isFile || !this.#isInside(path)) throw refusal(`${name} is not a file of the plugin's folder, or of a package in node_modules`);
    if (this.#bytes > LIMITS.bundler.inputBytes)
      throw refusal(`its files have more than ${LIMITS.bundler.inputBytes} bytes${largestOf(this.#packages)}`);
    this.#read.add(path);
    return readFileSync(path, "utf8");
  }

  /** Folders of packages that files were read from. */
  packages(): string[] {
    return [...new Set([...this.#read].flatMap((path) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/s.exec(path)?.[0] ?? []))];
  }

  #count(path: string, bytes: number): void {
    this.#bytes += bytes;
    const name = packageOfPath(path);
    this.#packages.set(name, (this.#packages.get(name) ?? 0) + bytes);
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

/** The package that a file belongs to; "": the plugin itself. */
export function packageOfPath(path: string): string {
  return /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/s.exec(path)?.[1]?.replaceAll("\\", "/") ?? "";
}

/** For a message about a size: what makes most of it. */
export function largestOf(bytes: ReadonlyMap<string, number>): string {
  const most = [...bytes].toSorted(([, a], [, b]) => b - a).slice(0, 3);
  const named = most.map(([name, size]) => `${name === "" ? "its own files" : name} ${(size / 1024 / 1024).toFixed(1)} MB`);
  return named.length === 0 ? "" : ` (${named.join(", ")})`;
}

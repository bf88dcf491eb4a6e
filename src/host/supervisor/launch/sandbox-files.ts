/**
 * Trusted side: the files that a sandbox process has to read to run: its own code, the packages it imports, Node, and
 * the libraries Node is linked with. Looked up once per process. The walls hide everything else.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Paths that must exist inside the walls. Folders and files are real paths, and none is inside another. */
export interface Visible {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  /** Symbolic links to them. */
  readonly links: readonly (readonly [path: string, target: string])[];
}

export interface SandboxFiles {
  /** The sandbox's own folder, and the working directory of the process. */
  readonly home: string;
  /** What Node's permission model lets the process read: code. */
  readonly readable: readonly string[];
  /** What the process's own file system has to hold: code, Node, libraries. */
  readonly visible: Visible;
}

const HOME = fileURLToPath(new URL("../../../sandbox", import.meta.url));
const TRANSPORT = fileURLToPath(new URL("../../../transport", import.meta.url));
const PROTOCOL = fileURLToPath(new URL("../../../protocol", import.meta.url));
/** Tells Node that the code is made of modules. */
const PACKAGE = fileURLToPath(new URL("../../../../package.json", import.meta.url));
/** What the sandbox imports, beside its own code, transport and protocol. */
const PACKAGES = ["isolated-vm", "piscina"] as const;
/** isolated-vm looks for this file to find out which C library the system has. */
const LIBC_MARK = "/etc/alpine-release";
/** Where systems keep shared libraries, and the index of them. */
const LIBRARIES = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/gnu/store", "/etc/ld.so.cache"] as const;

/** `more`: further files to make visible and readable, such as another entry file. */
export function sandboxFiles(more: readonly string[] = []): SandboxFiles {
  const packages = PACKAGES.flatMap((name) => packagePaths(name, HOME));
  const code = [HOME, TRANSPORT, PROTOCOL, PACKAGE, ...packages, ...more];
  const real = code.map((path) => realpathSync(path));
  return {
    home: HOME,
    readable: [...new Set([...code, ...real, LIBC_MARK])],
    visible: visible([...code, process.execPath, ...[...LIBRARIES, LIBC_MARK].filter((path) => existsSync(path)), ...mappedFolders()]),
  };
}

/** A package and its dependencies, wherever the package manager has put them. */
function packagePaths(name: string, from: string): string[] {
  const path = lookUp(name, from);
  if (path === undefined) return [];
  const real = realpathSync(path);
  const { dependencies = {} } = JSON.parse(readFileSync(join(real, "package.json"), "utf8")) as { dependencies?: object };
  return [path, ...Object.keys(dependencies).flatMap((dependency) => packagePaths(dependency, real))];
}

/** Looks in every `node_modules` on the way up, as Node does. */
function lookUp(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(join(path, "package.json"))) return path;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Folders of the libraries that this process, which runs the same Node, has loaded. */
function mappedFolders(): string[] {
  if (process.platform !== "linux") return [];
  const mapped = readFileSync("/proc/self/maps", "utf8").matchAll(/ (\/\S+\.so[\d.]*)$/gm);
  return [...new Set(Array.from(mapped, ([, path]) => dirname(path!)))];
}

/** What must exist, so that these paths resolve. */
export function visible(paths: readonly string[]): Visible {
  const real = [...new Set(paths.map((path) => realpathSync(path)))];
  const outermost = real.filter((path) => !real.some((other) => isInside(path, other)));
  return {
    folders: outermost.filter(isFolder),
    files: outermost.filter((path) => !isFolder(path)),
    links: paths
      .filter((path) => realpathSync(path) !== path && !outermost.some((other) => isInside(path, other)))
      .map((path) => [path, realpathSync(path)] as const),
  };
}

function isFolder(path: string): boolean {
  return statSync(path).isDirectory();
}

export function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

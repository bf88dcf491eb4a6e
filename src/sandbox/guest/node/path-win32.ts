/**
 * Inside the isolate: `path.win32`, for packages that read Windows' paths on every machine, as archive tools do. Paths
 * inside a cell are POSIX paths all the same. Loaded when it is first touched.
 */
import { checkString, invalidArgType } from "./errors.ts";
import posix, { place } from "./path.ts";
import type { ParsedPath } from "./path.ts";

const sep = "\\";
const delimiter = ";";

interface Root {
  /** `C:`, `\\server\share`, or empty. */
  readonly device: string;
  readonly isRooted: boolean;
  /** Where the rest begins. */
  readonly end: number;
}

const isSeparator = (char: string | undefined): boolean => char === "/" || char === "\\";

function rootOf(path: string): Root {
  const [share, server, name] = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path) ?? [];
  if (server === "." || server === "?") return { device: `\\\\${server}`, isRooted: true, end: 4 };
  if (share !== undefined) return { device: `\\\\${server}\\${name}`, isRooted: true, end: share.length };
  if (isSeparator(path[0])) return { device: "", isRooted: true, end: 1 };
  if (!/^[A-Za-z]:/.test(path)) return { device: "", isRooted: false, end: 0 };
  const isRooted = isSeparator(path[2]);
  return { device: path.slice(0, 2), isRooted, end: isRooted ? 3 : 2 };
}

/** The parts without `.`, and without `..` where there is a folder to leave. */
function reduced(path: string, isRooted: boolean): string {
  const parts: string[] = [];
  for (const part of path.split(/[\\/]/)) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!isRooted) parts.push("..");
  }
  return parts.join(sep);
}

function normalize(path: string): string {
  checkString(path, "path");
  if (path === "") return ".";
  const { device, isRooted, end } = rootOf(path);
  let tail = reduced(path.slice(end), isRooted);
  if (tail === "" && !isRooted) tail = ".";
  if (tail !== "" && isSeparator(path.at(-1)) && path.length > end) tail += sep;
  // What was a plain name must not become a drive.
  if (!isRooted && device === "" && /^[A-Za-z]:/.test(tail)) return `.${sep}${tail}`;
  return device + (isRooted ? sep : "") + tail;
}

function isAbsolute(path: string): boolean {
  checkString(path, "path");
  return /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path);
}

function join(...paths: string[]): string {
  for (const path of paths) checkString(path, "path");
  const given = paths.filter((path) => path !== "");
  const joined = given.join(sep);
  if (joined === "") return ".";
  // Two separators that only the joining brought together do not begin the name of a server.
  const isServer = /^[\\/]{2}[^\\/]/.test(given[0]!);
  return normalize(isServer ? joined : joined.replace(/^[\\/]{2,}/, sep));
}

function resolve(...paths: string[]): string {
  let device = "";
  let tail = "";
  let isRooted = false;
  for (const [at, path] of [place.cwd, ...paths].entries()) checkString(path, `paths[${at - 1}]`);
  for (const path of [place.cwd, ...paths].toReversed()) {
    if (path === "") continue;
    const root = rootOf(path);
    if (root.device !== "") {
      if (device !== "" && root.device.toLowerCase() !== device.toLowerCase()) continue;
      device ||= root.device;
    }
    if (isRooted) {
      if (device !== "") break;
      continue;
    }
    tail = `${path.slice(root.end)}${sep}${tail}`;
    isRooted = root.isRooted;
    if (isRooted && device !== "") break;
  }
  const whole = reduced(tail, isRooted);
  return device + (isRooted ? sep : "") + whole || ".";
}

function relative(from: string, to: string): string {
  checkString(from, "from");
  checkString(to, "to");
  if (from === to) return "";
  const [start, end] = [resolve(from), resolve(to)];
  if (start.toLowerCase() === end.toLowerCase()) return "";
  const [a, b] = [start, end].map((path) => path.split(sep).filter((part) => part !== "")) as [string[], string[]];
  let same = 0;
  while (same < a.length && same < b.length && a[same]!.toLowerCase() === b[same]!.toLowerCase()) same += 1;
  if (same === 0 && rootOf(start).device.toLowerCase() !== rootOf(end).device.toLowerCase()) return end;
  return [...a.slice(same).fill(".."), ...b.slice(same)].join(sep);
}

function toNamespacedPath(path: unknown): unknown {
  if (typeof path !== "string" || path === "") return path;
  const whole = resolve(path);
  if (/^\\\\[^.?]/.test(whole)) return `\\\\?\\UNC\\${whole.slice(2)}`;
  return /^[A-Za-z]:\\/.test(whole) ? `\\\\?\\${whole}` : whole;
}

/** The end of the root as `dirname` and `parse` count it: with the separator behind it. */
function rootEnd(path: string): number {
  const { device, isRooted, end } = rootOf(path);
  return isRooted && device.startsWith("\\\\") && isSeparator(path[end]) ? end + 1 : end;
}

/** Without trailing separators, but with the whole root. */
function withoutTail(path: string, root: number): string {
  let end = path.length;
  while (end > root && isSeparator(path[end - 1])) end -= 1;
  return path.slice(0, end);
}

function lastSeparator(path: string): number {
  return Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
}

function dirname(path: string): string {
  checkString(path, "path");
  if (path === "") return ".";
  const root = rootEnd(path);
  const end = lastSeparator(withoutTail(path, root));
  if (end < root) return root === 0 ? "." : path.slice(0, root);
  return path.slice(0, end);
}

/** The drive is not a part of the name. */
function withoutDrive(path: string): string {
  return /^[A-Za-z]:/.test(path) ? path.slice(2) : path;
}

function basename(path: string, suffix?: string): string {
  if (suffix !== undefined) checkString(suffix, "suffix");
  checkString(path, "path");
  return posix.basename(withoutDrive(path).replaceAll("\\", "/"), suffix);
}

function extname(path: string): string {
  checkString(path, "path");
  return posix.extname(withoutDrive(path).replaceAll("\\", "/"));
}

function parse(path: string): ParsedPath {
  checkString(path, "path");
  const end = rootEnd(path);
  const rest = path.slice(end);
  const base = posix.basename(rest.replaceAll("\\", "/"));
  const ext = posix.extname(base);
  const start = end + lastSeparator(withoutTail(rest, 0)) + 1;
  const dir = start > end ? path.slice(0, start - 1) : path.slice(0, end);
  return { root: path.slice(0, end), dir, base, ext, name: base.slice(0, base.length - ext.length) };
}

function format(parts: Partial<ParsedPath>): string {
  if (typeof parts !== "object" || parts === null) throw invalidArgType("pathObject", "of type object", parts);
  const dir = parts.dir || parts.root;
  const ext = parts.ext ? (parts.ext.startsWith(".") ? parts.ext : `.${parts.ext}`) : "";
  const base = parts.base || (parts.name ?? "") + ext;
  if (!dir) return base;
  return dir === parts.root ? dir + base : `${dir}${sep}${base}`;
}

const win32 = {
  resolve,
  normalize,
  isAbsolute,
  join,
  relative,
  toNamespacedPath,
  dirname,
  basename,
  extname,
  format,
  parse,
  sep,
  delimiter,
  _makeLong: toNamespacedPath,
  get win32(): unknown {
    return win32;
  },
  posix,
};

export default win32;

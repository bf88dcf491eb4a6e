/** Inside the isolate: `path`. Paths inside a cell are POSIX paths on every machine. */
import { HOME } from "../../../protocol/messages/files.ts";
import { part as loaded } from "../boot/library.ts";

/** Where relative paths begin. `process.chdir` moves it. */
export const place = { cwd: HOME };
import { checkString, invalidArgType } from "./errors.ts";

export interface ParsedPath {
  root: string;
  dir: string;
  base: string;
  ext: string;
  name: string;
}

const sep = "/";
const delimiter = ":";

/** The parts without `.`, and without `..` where there is a folder to leave. */
function reduced(path: string, isAbsolutePath: boolean): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!isAbsolutePath) parts.push("..");
  }
  return parts.join("/");
}

function normalize(path: string): string {
  checkString(path, "path");
  if (path === "") return ".";
  const isFull = path.startsWith("/");
  const plain = reduced(path, isFull);
  const tail = path.endsWith("/") ? "/" : "";
  if (plain === "") return isFull ? "/" : `.${tail}`;
  return (isFull ? "/" : "") + plain + tail;
}

function isAbsolute(path: string): boolean {
  checkString(path, "path");
  return path.startsWith("/");
}

function join(...paths: string[]): string {
  for (const path of paths) checkString(path, "path");
  return normalize(paths.filter((path) => path !== "").join("/"));
}

function resolve(...paths: string[]): string {
  let whole = "";
  for (let i = paths.length - 1; i >= 0 && !whole.startsWith("/"); i--) {
    const path = paths[i]!;
    checkString(path, `paths[${i}]`);
    if (path !== "") whole = whole === "" ? path : `${path}/${whole}`;
  }
  if (!whole.startsWith("/")) whole = `${place.cwd}/${whole}`;
  return `/${reduced(whole, true)}`;
}

function relative(from: string, to: string): string {
  checkString(from, "from");
  checkString(to, "to");
  const [a, b] = [partsOf(resolve(from)), partsOf(resolve(to))];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  return [...a.slice(same).fill(".."), ...b.slice(same)].join("/");
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function toNamespacedPath(path: string): string {
  return path;
}

function dirname(path: string): string {
  checkString(path, "path");
  if (path === "") return ".";
  const end = withoutTail(path).lastIndexOf("/");
  if (end < 0) return path.startsWith("/") ? "/" : ".";
  // Two slashes at the beginning both stay.
  if (end === 1 && path.startsWith("//")) return "//";
  return end === 0 ? "/" : path.slice(0, end);
}

/** Without trailing slashes. A path of slashes only becomes empty. */
function withoutTail(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function basename(path: string, suffix?: string): string {
  if (suffix !== undefined) checkString(suffix, "suffix");
  checkString(path, "path");
  if (suffix !== undefined && suffix !== "" && suffix === path) return "";
  const plain = withoutTail(path);
  const start = plain.lastIndexOf("/") + 1;
  const base = plain.slice(start);
  // Node's quirk: where the suffix matches only in part, trailing slashes stay.
  if (suffix && suffix.length <= path.length && base.length < suffix.length && suffix.endsWith(base)) return path.slice(start);
  if (suffix === undefined || suffix === "" || suffix.length > path.length || base === suffix) return base;
  return base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
}

function extname(path: string): string {
  checkString(path, "path");
  return extensionOf(basename(path));
}

function extensionOf(base: string): string {
  const dot = base.lastIndexOf(".");
  return dot <= 0 || base === ".." ? "" : base.slice(dot);
}

function parse(path: string): ParsedPath {
  checkString(path, "path");
  const root = path.startsWith("/") ? "/" : "";
  const base = basename(path);
  const start = withoutTail(path).lastIndexOf("/") + 1;
  // Node's quirk.
  const ext = base === ".." && root !== "" && start === 1 ? "." : extensionOf(base);
  const dir = start > root.length ? path.slice(0, start - 1) : root;
  return { root, dir, base, ext, name: base.slice(0, base.length - ext.length) };
}

function format(parts: Partial<ParsedPath>): string {
  if (typeof parts !== "object" || parts === null) throw invalidArgType("pathObject", "of type object", parts);
  const dir = parts.dir || parts.root;
  const ext = parts.ext ? (parts.ext.startsWith(".") ? parts.ext : `.${parts.ext}`) : "";
  const base = parts.base || (parts.name ?? "") + ext;
  if (!dir) return base;
  return dir === parts.root ? dir + base : `${dir}/${base}`;
}

const path = {
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
  get posix(): unknown {
    return path;
  },
  get win32(): unknown {
    return loaded("node/path-win32").default;
  },
};

export default path;

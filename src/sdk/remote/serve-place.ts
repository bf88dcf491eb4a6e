/**
 * Trusted side: where the socket of `creel serve` is, and whether that place is safe. Node cannot ask the kernel for the peer of a socket. So
 * each side proves that it is the same user by its access to files: only the user may enter the folder, and only the user may read the
 * file with the host's token.
 */
import { realpathSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import type { ServeKey } from "../../protocol/serve.ts";

/** Linux's limit for the path of a socket, without the byte that ends it; others have a few less. */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;

/**
 * Where `creel serve` listens unless it is told. Each state folder has a socket of its own, so that a command in one project never reaches
 * the host of another. It is not in that folder, whose path may be too long for a socket. Undefined: the host has no state folder.
 */
export function defaultSocket(stateDir?: string): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env;
  const folder = runtime ? join(runtime, "creel") : join(tmpdir(), `creel-${process.getuid?.() ?? "user"}`);
  if (stateDir === undefined) return join(folder, "serve.sock");
  // Not imported: `creel hook` would load it for every event.
  const { hash } = process.getBuiltinModule("node:crypto");
  return join(folder, `serve-${hash("sha256", realPath(stateDir)).slice(0, 12)}.sock`);
}

/** Also of a folder that does not exist yet, so that it has the same socket afterwards. */
function realPath(path: string): string {
  const whole = resolve(path);
  try {
    return realpathSync(whole);
  } catch {
    return dirname(whole) === whole ? whole : join(realPath(dirname(whole)), basename(whole));
  }
}

export function keyFileOf(socket: string): string {
  return `${socket}.json`;
}

/** SECURITY: a folder that others may enter, or a link that another user has put there, is not used. test/serve/socket-path.test.ts */
export async function checkFolder(socket: string): Promise<void> {
  const folder = dirname(socket);
  const refuse = (detail: string): never => {
    throw new CreelError("ERR_SERVE_PLACE", { path: socket, detail });
  };
  if (Buffer.byteLength(socket) > MAX_PATH_BYTES) refuse(`the path has more than ${MAX_PATH_BYTES} bytes`);
  const found = await lstat(folder);
  if (!found.isDirectory()) refuse(`${folder} is not a folder`);
  if (process.getuid && found.uid !== process.getuid()) refuse(`${folder} belongs to another user`);
  if ((found.mode & 0o077) !== 0) refuse(`${folder} can be entered by others (mode ${(found.mode & 0o777).toString(8).padStart(4, "0")})`);
}

/** Undefined: there is no token, or it cannot be read. Checked by hand, so that `creel hook` starts without zod. */
export async function readKey(socket: string): Promise<ServeKey | undefined> {
  try {
    const { protocol, pid, token } = JSON.parse(await readFile(keyFileOf(socket), "utf8")) as Record<keyof ServeKey, unknown>;
    if (!Number.isSafeInteger(protocol) || !Number.isSafeInteger(pid) || typeof token !== "string") return undefined;
    return token.length >= 32 && token.length <= 256 ? { protocol: protocol as number, pid: pid as number, token } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Trusted side: where the socket of `creel serve` is, and whether that place is safe. Node cannot ask the kernel who is at the other end of a
 * socket. So each side shows that it is the same user by what it can do with files: the folder lets nobody else in, and the host's token is in
 * a file that nobody else can read.
 */
import { lstat, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { serveKey } from "../protocol/serve.ts";
import type { ServeKey } from "../protocol/serve.ts";

/** Linux's limit for the path of a socket, without the byte that ends it; others have a few less. */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;

export function defaultSocket(): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env;
  return runtime ? join(runtime, "creel", "serve.sock") : join(tmpdir(), `creel-${process.getuid?.() ?? "user"}`, "serve.sock");
}

export function keyFileOf(socket: string): string {
  return `${socket}.json`;
}

/** SECURITY: a folder that others may enter, or a link that somebody else has put there, is not used. test/serve/place.test.ts */
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

/** Undefined: there is none that can be read. */
export async function readKey(socket: string): Promise<ServeKey | undefined> {
  try {
    return serveKey.parse(JSON.parse(await readFile(keyFileOf(socket), "utf8")));
  } catch {
    return undefined;
  }
}

/**
 * Trusted side: binds the socket: checks the folder, writes the token file, and detects a server that is running
 * already.
 */
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import type { Server } from "node:net";
import { dirname } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { SERVE_PROTOCOL } from "../protocol/serve.ts";
import type { ServeKey } from "../protocol/serve.ts";
import { checkFolder, keyFileOf, readKey } from "../sdk/remote/serve-place.ts";
import { exclusively } from "../state/mutex.ts";

export interface BoundSocket {
  readonly token: string;
  /** Removes socket and token file, unless another server has replaced them. */
  leave(): Promise<void>;
}

/** Two that start at once do so one after the other, so that neither takes the other's socket for a dead one's. */
export async function listen(server: Server, socket: string): Promise<BoundSocket> {
  await mkdir(dirname(socket), { recursive: true, mode: 0o700 });
  await checkFolder(socket);
  return exclusively(dirname(socket), { what: "creel serve" }, () => take(server, socket));
}

async function take(server: Server, socket: string): Promise<BoundSocket> {
  if (await isAnswered(socket)) throw new CreelError("ERR_SERVE_RUNNING", { path: socket, pid: (await readKey(socket))?.pid ?? "unknown" });
  const found = await lstat(socket).catch(() => undefined);
  // Any other file is not a leftover of ours, so it is not deleted.
  if (found && !found.isSocket()) throw new CreelError("ERR_SERVE_PLACE", { path: socket, detail: "there is something else" });
  await rm(socket, { force: true });
  const token = randomBytes(32).toString("base64url");
  await writeKey(socket, { protocol: SERVE_PROTOCOL, pid: process.pid, token });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // Until here, the mode of the folder has kept other users out. SECURITY: test/serve/socket-path.test.ts
  await chmod(socket, 0o600);
  const leave = async (): Promise<void> => {
    if ((await readKey(socket))?.token !== token) return;
    await Promise.all([rm(socket, { force: true }), rm(keyFileOf(socket), { force: true })]);
  };
  return { token, leave };
}

/** Never half written, and never readable for others. */
async function writeKey(socket: string, key: ServeKey): Promise<void> {
  const file = keyFileOf(socket);
  const fresh = `${file}.${process.pid}`;
  await rm(fresh, { force: true });
  await writeFile(fresh, `${JSON.stringify(key)}\n`, { mode: 0o600, flag: "wx" });
  await rename(fresh, file);
}

/** Is a server listening there? The socket of a dead process refuses connections. */
export function isAnswered(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    const done = (isThere: boolean): void => {
      probe.destroy();
      resolve(isThere);
    };
    probe.once("connect", () => done(true));
    // EAGAIN means the backlog is full, so a server is listening.
    probe.once("error", ({ code }: NodeJS.ErrnoException) => done(code === "EAGAIN"));
  });
}

/** Trusted side: takes the place of the socket: the folder, the token beside it, and whether somebody is there already. */
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import type { Server } from "node:net";
import { dirname } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { SERVE_PROTOCOL } from "../protocol/serve.ts";
import type { ServeKey } from "../protocol/serve.ts";
import { checkFolder, keyFileOf, readKey } from "../sdk/serve-place.ts";
import { exclusively } from "../state/mutex.ts";

export interface Taken {
  readonly token: string;
  /** Takes away what was put there, unless somebody else has put theirs there since. */
  leave(): Promise<void>;
}

/** Two that start at once do so one after the other, so that neither takes the other's socket for a dead one's. */
export async function listen(server: Server, socket: string): Promise<Taken> {
  await mkdir(dirname(socket), { recursive: true, mode: 0o700 });
  await checkFolder(socket);
  return exclusively(dirname(socket), { what: "creel serve" }, () => take(server, socket));
}

async function take(server: Server, socket: string): Promise<Taken> {
  if (await isAnswered(socket)) throw new CreelError("ERR_SERVE_RUNNING", { path: socket, pid: (await readKey(socket))?.pid ?? "unknown" });
  const found = await lstat(socket).catch(() => undefined);
  // Whatever else is there is nobody's leftover: it is not ours to delete.
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
  // The folder has kept everybody else out until here. SECURITY: test/serve/place.test.ts
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

/** Does somebody listen there? The socket of a process that has died refuses. */
export function isAnswered(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    const done = (isThere: boolean): void => {
      probe.destroy();
      resolve(isThere);
    };
    probe.once("connect", () => done(true));
    // A queue that is full is somebody's, too.
    probe.once("error", ({ code }: NodeJS.ErrnoException) => done(code === "EAGAIN"));
  });
}

/**
 * Checks the socket of `creel serve`: whether a host is running, whether it is ours, and whether other users could
 * connect.
 */
import { lstat } from "node:fs/promises";
import { dirname } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import { checkFolder, keyFileOf, readKey } from "../../sdk/remote/serve-place.ts";
import { isAnswered } from "../../serve/socket-path.ts";
import { broken, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

const statsOf = (path: string) => lstat(path).catch(() => undefined);

export async function socketChecks(socket: string): Promise<Check[]> {
  if (!(await statsOf(dirname(socket)))) return [ok("socket", `no creel serve is running at ${socket}`)];
  const checks: Check[] = [];
  try {
    await checkFolder(socket);
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    checks.push(broken("socket", error.message, error.fix, dirname(socket)));
  }
  const found = await statsOf(socket);
  const key = await statsOf(keyFileOf(socket));
  for (const [path, stats] of [
    [socket, found],
    [keyFileOf(socket), key],
  ] as const) {
    if (!stats) continue;
    if (process.getuid && stats.uid !== process.getuid())
      checks.push(
        broken(
          "socket",
          `${path} belongs to another user (${stats.uid}): it is not the socket of your host`,
          `remove it, and find out which user created it`,
          path,
        ),
      );
    else if ((stats.mode & 0o077) !== 0)
      checks.push(
        broken(
          "socket",
          `${path} has mode ${(stats.mode & 0o777).toString(8).padStart(4, "0")}: others can use it`,
          `chmod 600 ${path}, and restart creel serve to get a new token`,
          path,
        ),
      );
  }
  if (!found) return checks.length > 0 ? checks : [ok("socket", `no creel serve is running at ${socket}`)];
  if (!found.isSocket())
    return [...checks, broken("socket", `${socket} is not a socket`, "remove it, or choose another path with --socket", socket)];
  if (!(await isAnswered(socket)))
    return [
      ...checks,
      warn("socket", `${socket} is left over from a host that has ended`, "start creel serve, which replaces it, or delete it", socket),
    ];
  const answering = await readKey(socket);
  if (!answering)
    return [
      ...checks,
      broken(
        "socket",
        `a process answers at ${socket}, but a host's token file is missing`,
        "end that process and restart creel serve",
        socket,
      ),
    ];
  return checks.length > 0 ? checks : [ok("socket", `a host serves at ${socket} (process ${answering.pid})`)];
}

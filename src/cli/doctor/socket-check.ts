/** The place of `creel serve`: whether somebody is there, whether it is ours, and whether others could come in. */
import { lstat } from "node:fs/promises";
import { dirname } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import { checkFolder, keyFileOf, readKey } from "../../sdk/serve-place.ts";
import { isAnswered } from "../../serve/place.ts";
import { broken, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

const look = (path: string) => lstat(path).catch(() => undefined);

export async function socketChecks(socket: string): Promise<Check[]> {
  if (!(await look(dirname(socket)))) return [ok("socket", `nobody serves at ${socket}`)];
  const checks: Check[] = [];
  try {
    await checkFolder(socket);
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    checks.push(broken("socket", error.message, error.fix, dirname(socket)));
  }
  const found = await look(socket);
  const key = await look(keyFileOf(socket));
  for (const [path, stats] of [
    [socket, found],
    [keyFileOf(socket), key],
  ] as const) {
    if (!stats) continue;
    if (process.getuid && stats.uid !== process.getuid())
      checks.push(
        broken(
          "socket",
          `${path} belongs to another user (${stats.uid}): it is not your host`,
          `remove it, and find out who put it there`,
          path,
        ),
      );
    else if ((stats.mode & 0o077) !== 0)
      checks.push(
        broken(
          "socket",
          `${path} has mode ${(stats.mode & 0o777).toString(8).padStart(4, "0")}: others can use it`,
          `chmod 600 ${path}, and start creel serve again for a new token`,
          path,
        ),
      );
  }
  if (!found) return checks.length > 0 ? checks : [ok("socket", `nobody serves at ${socket}`)];
  if (!found.isSocket())
    return [...checks, broken("socket", `${socket} is not a socket`, "take it away, or name another place with --socket", socket)];
  if (!(await isAnswered(socket)))
    return [
      ...checks,
      warn(
        "socket",
        `${socket} is left from a host that is gone`,
        "nothing, if you start creel serve: it takes its place; or delete it",
        socket,
      ),
    ];
  const answering = await readKey(socket);
  if (!answering)
    return [
      ...checks,
      broken(
        "socket",
        `somebody answers at ${socket}, without the token file of a host`,
        "end that process, and start creel serve again",
        socket,
      ),
    ];
  return checks.length > 0 ? checks : [ok("socket", `a host serves at ${socket} (process ${answering.pid})`)];
}

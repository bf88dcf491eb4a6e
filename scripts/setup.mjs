// Makes sure that what package-lock.json asks for is installed, and does nothing when it is. Runs before `npm start` and
// `npm test`, on whatever Node is there (20 or later): the scripts themselves run on the Node that this installs.
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = `${root}node_modules/.creel-setup`;
const wanted = createHash("sha256")
  .update(readFileSync(`${root}package-lock.json`))
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(`${process.platform}-${process.arch}`)
  .digest("hex");

if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) process.exit(0);

process.stderr.write("creel: installing what package-lock.json names (once; about half a minute)\n");
// npm names its own entry file to the scripts it runs; without it (plain `node scripts/setup.mjs`) the command does.
const npm = process.env.npm_execpath;
const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
const { status, error } = npm
  ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ["ignore", 2, 2] })
  : spawnSync("npm", args, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
if (error || status !== 0) {
  process.stderr.write(
    `creel: npm ci failed${error ? `: ${error.message}` : ` with exit code ${status}`}. Check that a registry is reachable, then try again.\n`,
  );
  process.exit(1);
}
// `npx creel` in this repository runs the sources, as `creel` runs the package where it is installed.
const main = `${root}src/cli/main.ts`;
const node = `${root}node_modules/.bin/node`;
writeFileSync(`${root}node_modules/.bin/creel`, `#!/bin/sh\nexec "${node}" -C source "${main}" "$@"\n`);
chmodSync(`${root}node_modules/.bin/creel`, 0o755);
writeFileSync(`${root}node_modules/.bin/creel.cmd`, `@"${node}.cmd" -C source "${main}" %*\r\n`);
writeFileSync(stamp, wanted);

// Installs what this folder's package-lock.json names, for the bench alone, and does nothing when it is there. Never fails: what cannot be
// installed is reported by the bench as absent, with the reason that is written down here. Runs before `npm run bench`, not in CI.
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const stamp = `${here}node_modules/.creel-setup`;
const wanted = createHash("sha256")
  .update(readFileSync(`${here}package-lock.json`))
  // What was left out for want of a newer Node may be had with the next one.
  .update(`${process.platform}-${process.arch}-${process.versions.modules}`)
  .digest("hex");

if (process.env.CI || (existsSync(stamp) && readFileSync(stamp, "utf8").startsWith(wanted))) process.exit(0);

process.stderr.write(
  "bench: installing what Creel is compared with, OpenClaw among it (once; about a minute, 0.8 GB, in bench/subjects/node_modules)\n",
);
// npm names its own entry file to the scripts it runs; without it (plain `node bench/subjects/setup.mjs`) the command does.
const npm = process.env.npm_execpath;
// No package of these needs its scripts for what the bench does with it.
const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
const options = { cwd: here, stdio: ["ignore", 2, "pipe"], encoding: "utf8" };
const { status, error, stderr } = npm
  ? spawnSync(process.execPath, [npm, ...args], options)
  : spawnSync("npm", args, { ...options, shell: process.platform === "win32" });
// All of them are optional, so npm is content with none.
const names = Object.keys(JSON.parse(readFileSync(`${here}package.json`, "utf8")).optionalDependencies);
const missing = names.filter((name) => !existsSync(`${here}node_modules/${name}/package.json`));
const reason =
  error?.message ??
  /npm error (?!code)(\S.*)/.exec(stderr)?.[1] ??
  (status === 0 ? "npm left it out; is a registry reachable?" : `npm ci ended with ${status}`);
mkdirSync(`${here}node_modules`, { recursive: true });
// Without any of them, the next run tries again.
writeFileSync(stamp, `${missing.length < names.length ? wanted : "nothing"}\n${missing.length > 0 ? reason : ""}`);
if (missing.length > 0) {
  process.stderr.write(`bench: not installed: ${missing.join(", ")} (${reason}); the bench says that they are absent\n`);
  process.exit(0);
}

process.stderr.write("bench: compiling a handler to WebAssembly, with a JavaScript engine in it (once; about half a minute)\n");
spawnSync(process.execPath, ["-C", "source", `${here}wasm-build.ts`], { stdio: ["ignore", 2, 2] });

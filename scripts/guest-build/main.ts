/**
 * Build time: `node scripts/guest-build/main.ts` prints the path of the built guest. The result is kept in
 * node_modules/.cache under a digest of all its inputs, so that a test run builds it once and not once per file.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CACHE = `${ROOT}node_modules/.cache/creel-guest`;
const INPUTS = ["src/sandbox/guest/**/*.ts", "src/protocol/**/*.ts", "scripts/guest-build/*.ts"];

const digest = createHash("sha256")
  .update(process.version)
  .update(readFileSync(`${ROOT}package-lock.json`));
for (const file of globSync(INPUTS, { cwd: ROOT }).toSorted()) digest.update(file).update(readFileSync(`${ROOT}${file}`));
const path = `${CACHE}/${digest.digest("hex")}.js`;

if (!existsSync(path)) {
  const { buildGuest } = await import("./build.ts");
  mkdirSync(CACHE, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, await buildGuest());
  renameSync(unfinished, path);
}
process.stdout.write(path);

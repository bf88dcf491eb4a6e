/** Build time: where the built guest is kept, under a digest of all that it is made of, so that a test run builds it once. */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const CACHE = `${ROOT}node_modules/.cache/creel-guest`;
const INPUTS = ["src/sandbox/guest/**/*.ts", "src/protocol/**/*.ts", "scripts/guest-build/*.ts"];

export function guestPath(): string {
  const digest = createHash("sha256")
    .update(process.version)
    .update(readFileSync(`${ROOT}package-lock.json`));
  for (const file of globSync(INPUTS, { cwd: ROOT }).toSorted()) digest.update(file).update(readFileSync(`${ROOT}${file}`));
  return `${CACHE}/${digest.digest("hex")}.js`;
}

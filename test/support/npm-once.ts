/** Packages from a lock of their own, in a folder of the tests. npm installs them on demand, once. */
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** A hundred packages on a busy machine. A worker waits for so long while another installs. */
const INSTALL_MS = 180_000;

/** Undefined: they are there. Otherwise why they cannot be had here. `wanted`: a path in `node_modules` that npm must not leave out. */
export function installOnce(folder: string, wanted = "."): string | undefined {
  const has = (): boolean => existsSync(join(folder, "node_modules", wanted));
  const done = join(folder, "node_modules/.creel-lock");
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  const isDone = (): boolean => has() && existsSync(done) && readFileSync(done, "utf8") === lock;
  return isDone() ? undefined : alone(folder, () => (isDone() ? undefined : install(folder, has, done, lock)));
}

/** The workers of a test run find nothing at the same time, and each would delete what another is installing. */
export function alone<T>(folder: string, work: () => T): T {
  const mutex = join(tmpdir(), `creel-npm-${hash("sha256", folder).slice(0, 12)}.installing`);
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
        throw new Error(`${mutex} is still there: another worker installs, or delete it`, { cause: error });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  try {
    return work();
  } finally {
    rmSync(mutex, { recursive: true, force: true });
  }
}

function install(folder: string, has: () => boolean, done: string, lock: string): string | undefined {
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  // With the Node that runs this: npm leaves out an optional package, without a word, if an older one on the PATH is not good enough for it.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ""}` };
  const { status, stderr, error } = spawnSync("npm", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) return error?.message ?? /npm error (?!code)(\S.*)/.exec(stderr)?.[1] ?? `npm ci ended with ${status}`;
  if (!has()) return "npm left out what is wanted of it";
  writeFileSync(done, lock);
  return undefined;
}

/**
 * Tests and screenshots only: where Chromium is. Where this user may install packages of the system (root, apt), Debian's is installed;
 * elsewhere it is left to the person.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** Debian's package and its libraries are about 100 MB. */
const INSTALL_MS = 300_000;

const run = promisify(execFile);

/** Undefined: there is none, and it may not be installed here. */
export async function chromiumPath(): Promise<string | undefined> {
  return found() ?? ((await install()) ? found() : undefined);
}

function found(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  return named !== undefined && existsSync(named) ? named : PLACES.find((path) => existsSync(path));
}

async function install(): Promise<boolean> {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return false;
  const options = { timeout: INSTALL_MS, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  const apt = (...args: string[]): Promise<unknown> => run("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], options);
  const chromium = ["install", "-y", "--no-install-recommends", "chromium"];
  try {
    // The lists of packages may be missing or old.
    await apt(...chromium).catch(() => apt("update").then(() => apt(...chromium)));
    return true;
  } catch {
    return false;
  }
}

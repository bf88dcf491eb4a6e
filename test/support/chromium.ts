/** A Chromium for tests in a real browser: the one of this machine, or, as root, one that the system's package manager installs. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable"];
const INSTALL_MS = 300_000;

const find = (): string | undefined => [process.env.CHROMIUM_PATH ?? "", ...PLACES].find((path) => path !== "" && existsSync(path));

let installing: Promise<string | undefined> | undefined;

/** Its path; undefined: there is none, and none can be installed. */
export async function chromium(): Promise<string | undefined> {
  installing ??= install();
  return find() ?? installing;
}

async function install(): Promise<string | undefined> {
  if (find() !== undefined || process.getuid?.() !== 0) return find();
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const run = promisify(execFile);
  try {
    await run("apt-get", ["update", "-qq"], { env, timeout: INSTALL_MS });
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], { env, timeout: INSTALL_MS, maxBuffer: 2 ** 24 });
  } catch {
    // No such package manager, or no network: tests that need a browser say so.
  }
  return find();
}

/**
 * Tests and screenshots only: where Chromium is. Where this user may install packages of the system (root, apt), Debian's is installed;
 * elsewhere it is left to the person.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** Debian's package and its libraries are about 100 MB. */
const INSTALL_MS = 300_000;
const LOCKED = /could not get lock|unable to (?:acquire|lock)/i;

const run = promisify(execFile);

export interface FoundChromium {
  readonly path?: string;
  /** Why there is none. */
  readonly why?: string;
}

/** Undefined: there is none, and it may not be installed here. */
export async function chromiumPath(): Promise<string | undefined> {
  return (await findChromium()).path;
}

export async function findChromium(): Promise<FoundChromium> {
  const path = found();
  if (path !== undefined) return { path };
  const why = await install();
  const installed = found();
  return installed === undefined ? { why: why ?? "the package has no program in /usr/bin" } : { path: installed };
}

/** What is said of the tests in a browser. Throws where they must not be skipped: CI that may install what they need. */
export function browserTests(
  { path, why = "" }: FoundChromium,
  { isCi, isRoot, platform }: { readonly isCi: boolean; readonly isRoot: boolean; readonly platform: NodeJS.Platform },
): string {
  if (path !== undefined) return `Tests in a browser run in ${path}.`;
  if (isCi && isRoot && platform === "linux")
    throw new Error(`CI is set, and the tests in a browser would be skipped: Chromium is not here and could not be installed: ${why}`);
  return `TESTS IN A BROWSER ARE SKIPPED: there is no Chromium here: ${why}`;
}

function found(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  return named !== undefined && existsSync(named) ? named : PLACES.find((path) => existsSync(path));
}

/** Undefined: it worked; else why it did not. */
async function install(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root may install it; install it, or name one in CHROMIUM_PATH";
  if (!existsSync("/usr/bin/apt-get")) return "there is no apt to install it with; install it, or name one in CHROMIUM_PATH";
  const options = { timeout: INSTALL_MS, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  const apt = (...args: string[]): Promise<unknown> => run("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], options);
  const chromium = ["install", "-y", "--no-install-recommends", "chromium"];
  const latest = Date.now() + INSTALL_MS;
  for (;;) {
    try {
      // The lists of packages may be missing or old.
      await apt(...chromium).catch(() => apt("update").then(() => apt(...chromium)));
      return undefined;
    } catch (error) {
      const why = (error as Error).message.replaceAll(/\s+/g, " ").slice(0, 500);
      // Another file of tests may be installing it; apt waits for one of its two locks only.
      if (!LOCKED.test(why) || Date.now() > latest) return why;
      await sleep(1_000);
    }
  }
}

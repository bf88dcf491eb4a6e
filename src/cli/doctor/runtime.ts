/** Checks of the environment: Node, isolated-vm's binary, the disk, the clock. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, relative } from "node:path";
import { promisify } from "node:util";
import { broken, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

const run = promisify(execFile);
const require = createRequire(import.meta.url);

const own = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  engines: { node: string };
  dependencies: Record<string, string>;
};
/** The first version that will do, as in `>=24`. */
const NEEDED = Number(/\d+/.exec(own.engines.node)![0]);

export function nodeCheck(version = process.version): Check {
  const major = Number(/^v(\d+)/.exec(version)?.[1]);
  if (major >= NEEDED) return ok("node", `Node ${version}`);
  return broken("node", `Node ${version} is too old: ${NEEDED} or later is needed`, `install Node ${NEEDED} and run creel with it`);
}

/**
 * Runs in its own process, because a broken binary may crash. Creates an isolate, because a binary for another Node
 * loads and fails then.
 */
const TRIAL = `
  const { createRequire } = require("node:module");
  const home = process.argv[1];
  const binary = createRequire(home + "/package.json")("node-gyp-build").path(home);
  const { Isolate } = require(home);
  const isolate = new Isolate({ memoryLimit: 8 });
  if (isolate.createContextSync().evalSync("6 * 7") !== 42) throw new Error("an isolate cannot count");
  console.log(binary);
  // Ended in a hurry: nothing is left to be torn down.
  process.exit();
`;
const REBUILD = `run "npm rebuild isolated-vm" where Creel is installed; without a prebuilt binary this needs a C++ compiler and Python`;

/** `isProven`: a plugin has answered. `home`: the folder of the package. */
export async function isolatedVmCheck(isProven: boolean, home = homeOf()): Promise<Check> {
  if (home === undefined) return broken("isolated-vm", "isolated-vm is not installed", `run "npm install" where Creel is installed`);
  const expected = own.dependencies["isolated-vm"]!;
  try {
    const { version } = JSON.parse(readFileSync(`${home}/package.json`, "utf8")) as { version: string };
    const binary = relative(home, isProven ? binaryOf(home) : await tried(home));
    const made = binary.startsWith("prebuilds") ? "prebuilt" : "built on this machine";
    const platform = `${process.platform} ${process.arch}`;
    if (version !== expected)
      return warn(
        "isolated-vm",
        `isolated-vm ${version} is installed, but Creel was tested with ${expected}`,
        `run "npm install" where Creel is installed`,
      );
    return ok("isolated-vm", `isolated-vm ${version} works: ${made} for ${platform} (${binary})`);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const said = (stderr ?? "").split("\n").find((line) => /Error|Assertion|No native build/.test(line)) ?? message.split("\n")[0]!;
    return broken("isolated-vm", `isolated-vm does not work: ${said.trim().slice(0, 300)}`, REBUILD);
  }
}

function binaryOf(home: string): string {
  return (createRequire(`${home}/package.json`)("node-gyp-build") as { path: (home: string) => string }).path(home);
}

async function tried(home: string): Promise<string> {
  const { stdout } = await run(process.execPath, ["--no-node-snapshot", "-e", TRIAL, home], { timeout: 20_000 });
  return stdout.trim();
}

function isThere(find: () => string): boolean {
  try {
    return find() !== "";
  } catch {
    return false;
  }
}

/** Nothing, if there is one. npm leaves out the binary of an optional dependency more often than one should think. */
export function bundlerChecks(resolve = (name: string): string => createRequire(require.resolve("rolldown")).resolve(name)): Check[] {
  const fix = `remove node_modules and package-lock.json where Creel is installed, and run "npm install"`;
  if (!isThere(() => require.resolve("rolldown/package.json")))
    return [broken("node", "rolldown is not installed: no plugin can be installed", fix)];
  const { optionalDependencies = {} } = require("rolldown/package.json") as { optionalDependencies?: Record<string, string> };
  if (Object.keys(optionalDependencies).some((name) => isThere(() => resolve(name)))) return [];
  return [broken("node", "rolldown has no binary for this machine: no plugin can be installed", fix)];
}

function homeOf(): string | undefined {
  try {
    return dirname(require.resolve("isolated-vm/package.json"));
  } catch {
    return undefined;
  }
}

const MB = 2 ** 20;
/** The largest plugin with its dependencies, twice: installing needs both copies. */
const SCARCE_BYTES = 512 * MB;
const FULL_BYTES = 64 * MB;

export async function diskCheck(dir: string): Promise<Check> {
  const { bavail, bsize } = await statfs(dir);
  return spaceCheck(dir, bavail * bsize);
}

export function spaceCheck(dir: string, bytes: number): Check {
  const left = `${bytes >= 1024 * MB ? `${(bytes / 1024 / MB).toFixed(1)} GB` : `${Math.floor(bytes / MB)} MB`} free for the state folder`;
  const fix = "free some space, or move the folder and set stateDir to its new path";
  if (bytes < FULL_BYTES) return broken("disk", `only ${left}: plugins may not be able to store data`, fix, dir);
  return bytes < SCARCE_BYTES ? warn("disk", `only ${left}`, fix, dir) : ok("disk", left);
}

/** No release of Creel is older: a clock before that was never set. */
const FIRST_RELEASE = Date.parse("2026-01-01");
const SLACK_MS = 5 * 60_000;

/** `known`: past times from the lock. */
export function clockCheck(known: readonly number[], now = Date.now()): Check {
  const fix = "set the clock and enable NTP: certificates, schedules and the lock depend on it";
  if (now < FIRST_RELEASE)
    return broken("clock", `the clock says ${new Date(now).toISOString()}, which is before Creel's first release`, fix);
  const latest = Math.max(...known, 0);
  if (latest > now + SLACK_MS)
    return warn(
      "clock",
      `the clock is behind the latest time in the lock (${new Date(latest).toISOString()}): it was set back, or another machine's clock is fast`,
      fix,
    );
  return ok("clock", "the clock is not behind the lock");
}

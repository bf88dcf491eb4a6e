/**
 * Gateway, trusted: the text of the bootstrap that runs inside every isolate. The package contains it beside the lane's code, and the lane reads
 * it there: sending a megabyte takes both sides longer than opening the rest of a lane. When Creel runs from sources, a child process builds it
 * once (scripts/guest-build/main.ts).
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

let built: Promise<string> | undefined;

/** Empty: lanes have their own. */
export function guestCode(): Promise<string> {
  if (!built) {
    built = import.meta.url.endsWith(".ts") ? builtNow() : Promise.resolve("");
    // Do not keep a failure: the next host tries again.
    built.catch(() => (built = undefined));
  }
  return built;
}

async function builtNow(): Promise<string> {
  const folder = new URL("../../scripts/guest-build/", import.meta.url).href;
  const cached = (await import(`${folder}cached.ts`)) as { guestPath(): string };
  const path = cached.guestPath();
  if (!existsSync(path)) {
    await promisify(execFile)(process.execPath, ["--disable-warning=ExperimentalWarning", fileURLToPath(`${folder}main.ts`)]);
  }
  return readFile(path, "utf8");
}

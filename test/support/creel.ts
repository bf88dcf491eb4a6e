/** Runs the command as a user does: a process of its own, whose output goes into pipes. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Half of the time that a command from sources takes to start is compiling it. */
export const CACHE = join(root, "node_modules/.cache/creel-tests");

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function creel(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  // Not the test runner's environment: it sets colours as it likes.
  const clean = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_COMPILE_CACHE: CACHE, ...env };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["-C", "source", "src/cli/main.ts", ...args],
      { cwd: root, env: clean, timeout: 25_000, maxBuffer: 8 * 1024 * 1024 },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

export const ANSI = "\u001b[";

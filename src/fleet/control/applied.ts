/**
 * Trusted side: which change of the fleet's lock a state folder has, in `fleet.json`. It keeps an older list from coming back, and says which
 * plugins the fleet has installed: those that a person installed on this machine are left alone.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";
import { parseJson } from "../../text/parse-json.ts";

const applied = z.object({ serial: z.int().nonnegative(), plugins: z.record(z.string(), z.string()) });
export type Applied = z.infer<typeof applied>;

function fileOf(stateDir: string): string {
  return join(stateDir, "fleet.json");
}

/** Throws if there is a file that cannot be read: to begin again would let an older list come back. */
export function readApplied(stateDir: string): Applied {
  let text: string;
  try {
    text = readFileSync(fileOf(stateDir), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { serial: 0, plugins: {} };
    throw error;
  }
  const parsed = parseJson(applied, text);
  if (!parsed.success) throw new CreelError("ERR_FLEET_APPLIED", { file: fileOf(stateDir) });
  return parsed.data;
}

export function writeApplied(stateDir: string, value: Applied): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const file = fileOf(stateDir);
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

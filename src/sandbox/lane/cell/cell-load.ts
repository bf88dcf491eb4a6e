/**
 * Untrusted side, lane thread: how a plugin is loaded into a cell of either kind (cell.ts, debug-cell.ts): the script
 * around its code, the arguments of the first entry, and the text of what it threw.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { BOOTSTRAP_SCRIPT, pluginScript } from "../../../protocol/guest-surface/scripts.ts";
import { ENTRY } from "../../../protocol/messages/mail.ts";
import type { CellSpec } from "./cell.ts";

export const BOOTSTRAP = BOOTSTRAP_SCRIPT;
const WRAPPER = ["(function (exports, module, require) {", "\n})"] as const;

/** A script that evaluates to the function around the plugin's code. */
export function wrapped(code: string): string {
  return WRAPPER[0] + code + WRAPPER[1];
}

export function scriptOptions(plugin: string): { filename: string; columnOffset: number } {
  return { filename: pluginScript(plugin), columnOffset: -WRAPPER[0].length };
}

/** Of the entry `load`. `factory` is the wrapper function, `volume` a SentVolume as JSON. */
export function loadArguments(
  { facts, limits, files }: CellSpec,
  factory: unknown,
  library: unknown,
  volume: string | undefined,
): unknown[] {
  return [ENTRY.load, factory, facts, JSON.stringify(limits), newSeed(), library, files || undefined, volume];
}

/** What `load` gets last: the clock behind `performance`, and in an author's test the one behind Date. */
export function clocksOf({ hasFineClock, date }: CellSpec): (() => number)[] {
  if (date) return [date, date];
  return hasFineClock ? [now] : [];
}

/** isolated-vm accepts no bound functions. */
const now = (): number => performance.now();

const SEED_CHARS = 64;
let seeds = "";

/**
 * 32 random bytes in hexadecimal. OpenSSL takes as long for one seed as for many, which is a hundredth of a cell's
 * start.
 */
function newSeed(): string {
  if (seeds === "")
    seeds = process
      .getBuiltinModule("node:crypto")
      .randomBytes(SEED_CHARS * 32)
      .toString("hex");
  const seed = seeds.slice(-SEED_CHARS);
  seeds = seeds.slice(0, -SEED_CHARS);
  return seed;
}

/** isolated-vm copies what a guest threw, which may be any primitive. */
export function plainText(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.slice(0, LIMITS.call.errorMessageChars);
}

/** For `npm run compat`: whose a refusal is, by what it says, and the two shares that the page states. */
import type { Result } from "./page.ts";

/**
 * sandbox: what the plugin needs cannot be had in any sandbox. elsewhere: the checkout is not built or not valid, or the
 * registry does not have a package of it: it would load nowhere. ours: everything else.
 */
export const CAUSES = ["sandbox", "elsewhere", "ours"] as const;
export type Cause = (typeof CAUSES)[number];

const SANDBOX =
  /native addon|native code|machine code|the module "(?:child_process|cluster|worker_threads|wasi|dgram)"|cannot start programs/;
const ELSEWHERE = [
  /^npm install failed/,
  /which is not a version, a tag or an alias of a registry/,
  /has no entry file/,
  /\[UNRESOLVED_IMPORT\] Could not resolve '\./,
  /is not valid at "/,
  /the key "[^"]*" is there twice/,
  /was not found when the plugin was bundled/,
  // Creel takes what OpenClaw takes: a function, or an object with register or activate.
  /default export is neither a function nor an object with register/,
  // The one plugin that says so then calls `api.registerToolHandler`, which no OpenClaw has.
  /has no function named execute/,
];

/** Undefined: it was not refused. */
export function causeOf({ status, why = "" }: Result): Cause | undefined {
  if (status !== "refused") return undefined;
  if (SANDBOX.test(why)) return "sandbox";
  return ELSEWHERE.some((pattern) => pattern.test(why)) ? "elsewhere" : "ours";
}

/** It loads, and no hook of it failed: at most, modules are named that it does not have. */
function answers({ status, why = "" }: Result): boolean {
  return status === "full" || (status === "reduced" && why.startsWith("without "));
}

export interface Shares {
  readonly counts: Readonly<Record<Cause, number>>;
  /** Of those that need no native code or process to load, and would load somewhere. */
  readonly answering: readonly [count: number, of: number];
  /** Installed, or refused because of the sandbox; of those that would load somewhere. */
  readonly installing: readonly [count: number, of: number];
}

export function sharesOf(all: readonly Result[]): Shares {
  const count = (cause: Cause): number => all.filter((one) => causeOf(one) === cause).length;
  const counts = { sandbox: count("sandbox"), elsewhere: count("elsewhere"), ours: count("ours") };
  const whole = all.length - counts.elsewhere;
  return {
    counts,
    answering: [all.filter(answers).length, whole - counts.sandbox],
    installing: [whole - counts.ours, whole],
  };
}

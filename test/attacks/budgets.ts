/** What attacks are allowed. */
import type { Budget } from "./stage.ts";

/** A call may wait half a second and compute a tenth. */
export const SHORT: Budget = { timeoutMs: 500, cpuMs: 100 };
/** Long enough for every limit of memory to be reached first. */
export const LONG: Budget = { timeoutMs: 5_000, cpuMs: 5_000 };
/** Those that reach a limit of memory when they are given the time. */
export const GROWERS = /^(?:mem|hst|fld)-/;

/**
 * Untrusted side, lane thread: a full collection on demand. isolated-vm 7 aborts the whole process when one of its handles is
 * collected while the thread is torn down (its weak callback finds no environment any more), so a lane collects before it ends.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// The flag is global and gives `gc` to every context made meanwhile: it is set for this one line, and the guest bootstrap deletes it.
setFlagsFromString("--expose-gc");
export const collectGarbage = runInNewContext("gc") as () => void;
setFlagsFromString("--no-expose-gc");

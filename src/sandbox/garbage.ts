/**
 * Untrusted side, lane thread: a full collection on demand. isolated-vm 7 aborts the whole process when one of its handles is
 * collected while the thread is torn down (its weak callback finds no environment any more), so a lane in the gateway's own
 * process collects before it ends.
 */
/** Another lane may take the flag away between our two lines. */
const TRIES = 100;

export function collectGarbage(): void {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  const { runInNewContext } = process.getBuiltinModule("node:vm");
  for (let tries = 0; tries < TRIES; tries++) {
    // The flag is global and gives `gc` to every context made meanwhile: it is set for one line, and the guest bootstrap deletes it.
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("globalThis.gc") as (() => void) | undefined;
    setFlagsFromString("--no-expose-gc");
    if (gc) return gc();
  }
}

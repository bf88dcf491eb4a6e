/** Floor for the end of a runaway: V8's own timeout on an isolate of the caller's thread, which is blocked meanwhile. */
import ivm from "isolated-vm";
import { LIMITS } from "../../src/protocol/limits.ts";

/** Milliseconds past the budget. */
export async function stoppedByV8(): Promise<number> {
  const isolate = new ivm.Isolate({ memoryLimit: LIMITS.call.heapMb });
  const loop = isolate.createContextSync().evalSync("() => { for (;;); }", { reference: true }) as ivm.Reference<() => void>;
  const started = performance.now();
  try {
    loop.applySync(undefined, [], { timeout: LIMITS.call.cpuMs });
  } catch {
    // That is how it ends.
  }
  const took = performance.now() - started - LIMITS.call.cpuMs;
  isolate.dispose();
  return took;
}

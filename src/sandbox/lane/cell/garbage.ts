/**
 * Lane thread: garbage collection on demand.
 *
 * isolated-vm 7 aborts the whole process when one of its handles is collected while the thread is torn down, because
 * its weak callback finds no environment any more. So a lane inside the gateway's process collects before it ends.
 *
 * A long text that comes out of a cell is an external string. V8 sees only its header of a few bytes, so a plugin that
 * sends many would make the process grow by hundreds of megabytes before V8 collects anything. So the lane counts them.
 */
import { LIMITS } from "../../../protocol/limits.ts";

type Collect = (options?: { type: "minor" }) => void;

/** Another lane may clear the flag after we have set it. */
const TRIES = 100;
let collect: Collect | undefined;
let copiedChars = 0;

export function collectGarbage(): void {
  collect ??= exposed();
  collect?.();
}

/** A text of this length came out of a cell. */
export function noteCopied(chars: number): void {
  copiedChars += chars;
  if (copiedChars < LIMITS.lane.copiedChars) return;
  copiedChars = 0;
  collect ??= exposed();
  collect?.({ type: "minor" });
  // Texts that survived earlier collections are old.
  const { external_memory: bytes } = process.getBuiltinModule("node:v8").getHeapStatistics();
  if (bytes > LIMITS.lane.externalBytes) collect?.();
}

function exposed(): Collect | undefined {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  const { runInNewContext } = process.getBuiltinModule("node:vm");
  for (let tries = 0; tries < TRIES; tries++) {
    // The flag is global: every context that is made while it is set gets `gc`. So it is set for one line only, and the
    // guest bootstrap deletes `gc`.
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("globalThis.gc") as Collect | undefined;
    setFlagsFromString("--no-expose-gc");
    if (gc) return gc;
  }
  return undefined;
}

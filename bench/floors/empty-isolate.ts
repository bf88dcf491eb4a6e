/** The least that a cell can be: an isolate with a context, made and disposed of. */
import ivm from "isolated-vm";
import { LIMITS } from "../../src/protocol/limits.ts";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";

export function emptyIsolate(): Contestant {
  return contestant("floor: isolate with a context", () => {
    const isolate = new ivm.Isolate({ memoryLimit: LIMITS.call.heapMb });
    isolate.createContextSync();
    isolate.dispose();
  });
}

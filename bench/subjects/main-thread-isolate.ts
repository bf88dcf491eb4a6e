/**
 * isolated-vm from the gateway's main thread, the way Directus runs its sandboxed extensions: an isolate that stays, the handler held as a reference,
 * per call an asynchronous `apply` with copied arguments, a promise for an answer, a reference to it, and a copy of that.
 */
import ivm from "isolated-vm";
import { LIMITS } from "../../src/protocol/limits.ts";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";

type Answer = ivm.Reference<unknown>;

const CALL = {
  arguments: { copy: true },
  result: { reference: true, promise: true },
  timeout: LIMITS.call.cpuMs + LIMITS.call.turnSlackMs,
} as const;

export function mainThreadIsolate(work: Work): Contestant {
  const isolate = new ivm.Isolate({ memoryLimit: LIMITS.call.heapMb });
  const handler = isolate.createContextSync().evalSync(`(${work.handler})`, { reference: true }) as ivm.Reference<Function>;
  return contestant(
    "isolated-vm from the main thread, as Directus does",
    async (at) => {
      const answer: Answer = await handler.apply(undefined, [eventAt(work, at), work.context], CALL);
      const result = await answer.copy();
      answer.release();
      return result;
    },
    () => isolate.dispose(),
  );
}

/**
 * An isolate with one handler in it, and the least that can be called "run it with JSON": texts in, text out, one `applySync`.
 * Every floor enters its isolate through here. `timed` gives the call the same clock that Creel gives it; without one
 * nothing stops an endless loop, so the untimed variant does less than the job and is only ever shown beside.
 */
import ivm from "isolated-vm";
import { LIMITS } from "../../src/protocol/limits.ts";

/** What Creel's lane passes for a handler that has the default budgets. */
const TIMED = { timeout: Math.min(LIMITS.awaitedWallMs, LIMITS.cpuMs + LIMITS.turnSlackMs) };

export type Apply = (event: string, context: string) => string | undefined;

export function isolateWith(handler: string, isTimed: boolean): { apply: Apply; dispose(): void } {
  const { isolate, dispatch } = entered(handler);
  const apply: Apply = isTimed
    ? (event, ctx) => dispatch.applySync(undefined, [event, ctx], TIMED)
    : (event, ctx) => dispatch.applySync(undefined, [event, ctx]);
  return { apply, dispose: () => isolate.dispose() };
}

/** The same, entered in isolated-vm's asynchronous way. */
export function asyncIsolateWith(handler: string): (...args: Parameters<Apply>) => Promise<ReturnType<Apply>> {
  const { dispatch } = entered(handler);
  return (event, context) => dispatch.apply(undefined, [event, context], TIMED);
}

function entered(handler: string): { isolate: ivm.Isolate; dispatch: ivm.Reference<Apply> } {
  const isolate = new ivm.Isolate({ memoryLimit: LIMITS.heapMb });
  const dispatch = isolate.createContextSync().evalSync(
    `const handler = ${handler};
    (event, context) => {
      const result = handler(JSON.parse(event), JSON.parse(context));
      return result === undefined ? undefined : JSON.stringify(result);
    }`,
    { reference: true },
  ) as ivm.Reference<Apply>;
  return { isolate, dispatch };
}

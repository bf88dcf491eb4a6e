/**
 * An isolate with one handler in it, and the least that can be called "run it with JSON": texts in, text out, one `applySync`.
 * Every floor enters its isolate through here. `timed` gives the call the same clock that Creel gives it; without one
 * nothing stops an endless loop, so the untimed variant does less than the job and is only ever shown beside.
 */
import ivm from "isolated-vm";
import { LIMITS } from "../../src/protocol/limits.ts";

/** What Creel's lane passes for a handler that has the default budgets. */
const TIMED = { timeout: Math.min(LIMITS.call.awaitedWallMs, LIMITS.call.cpuMs + LIMITS.call.turnSlackMs) };

export type Apply = (event: string, context: string) => string | undefined;

/** Nothing that JSON can be: the handler gave a promise. */
const PENDING = "p";

export function isolateWith(handler: string, isTimed: boolean): { apply: Apply; dispose(): void } {
  const { isolate, dispatch, settled } = entered(handler);
  // V8 runs what waits for a promise when the call has left the isolate, so what came of it takes a second call.
  const last = (answer: string | undefined): string | undefined => (answer === PENDING ? settled.applySync(undefined, []) : answer);
  const apply: Apply = isTimed
    ? (event, ctx) => last(dispatch.applySync(undefined, [event, ctx], TIMED))
    : (event, ctx) => last(dispatch.applySync(undefined, [event, ctx]));
  return { apply, dispose: () => isolate.dispose() };
}

/** The same, entered in isolated-vm's asynchronous way. */
export function asyncIsolateWith(handler: string): (...args: Parameters<Apply>) => Promise<ReturnType<Apply>> {
  const { dispatch } = entered(handler);
  return (event, context) => dispatch.apply(undefined, [event, context], TIMED);
}

interface Entered {
  readonly isolate: ivm.Isolate;
  readonly dispatch: ivm.Reference<Apply>;
  readonly settled: ivm.Reference<() => string | undefined>;
}

function entered(handler: string): Entered {
  const isolate = new ivm.Isolate({ memoryLimit: LIMITS.call.heapMb });
  const context = isolate.createContextSync();
  const dispatch = context.evalSync(
    `const handler = ${handler};
    let answer;
    const text = (result) => result === undefined ? undefined : JSON.stringify(result);
    (event, context) => {
      const result = handler(JSON.parse(event), JSON.parse(context));
      if (!(result instanceof Promise)) return text(result);
      result.then((value) => { answer = text(value); });
      return ${JSON.stringify(PENDING)};
    }`,
    { reference: true },
  ) as Entered["dispatch"];
  return { isolate, dispatch, settled: context.evalSync("() => answer", { reference: true }) as Entered["settled"] };
}

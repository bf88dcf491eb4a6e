/** QuickJS, compiled to WebAssembly, on the gateway's own thread: JSON in, JSON out, an interrupt handler for a clock, a heap limit. */
import { LIMITS } from "../../src/protocol/limits.ts";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import { installed } from "./absent.ts";

interface Handle {
  dispose(): void;
}
interface Context extends Handle {
  readonly undefined: Handle;
  newString(text: string): Handle;
  evalCode(code: string): object;
  unwrapResult(result: object): Handle;
  callFunction(fn: Handle, self: Handle, ...args: Handle[]): object;
  getString(handle: Handle): string;
}
interface Runtime extends Handle {
  setMemoryLimit(bytes: number): void;
  setInterruptHandler(isOver: () => boolean): void;
  newContext(): Context;
}

export async function quickjs(work: Work): Promise<Contestant> {
  const { getQuickJS } = await installed<{ getQuickJS: () => Promise<{ newRuntime(): Runtime }> }>("quickjs-emscripten");
  const runtime = (await getQuickJS()).newRuntime();
  let deadline = Infinity;
  runtime.setMemoryLimit(LIMITS.call.heapMb * 2 ** 20);
  runtime.setInterruptHandler(() => Date.now() > deadline);
  const context = runtime.newContext();
  const dispatch = context.unwrapResult(
    context.evalCode(
      `const handler = ${work.handler};
      (event, context) => {
        const result = handler(JSON.parse(event), JSON.parse(context));
        return result === undefined ? "" : JSON.stringify(result);
      }`,
    ),
  );
  const call = (at: number): unknown => {
    const event = context.newString(JSON.stringify(eventAt(work, at)));
    const ctx = context.newString(JSON.stringify(work.context));
    deadline = Date.now() + LIMITS.call.cpuMs + LIMITS.call.turnSlackMs;
    const answer = context.unwrapResult(context.callFunction(dispatch, context.undefined, event, ctx));
    const text = context.getString(answer);
    for (const handle of [event, ctx, answer]) handle.dispose();
    return text === "" ? undefined : JSON.parse(text);
  };
  return contestant("quickjs-emscripten, same thread", call, () => {
    for (const handle of [dispatch, context, runtime]) handle.dispose();
  });
}

/** In the caller's process, no sandbox: a handler on hookable (unjs). Its own caller gives no results, so this one does: the first that is there. */
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import { installed } from "./absent.ts";
import { plain } from "./plain.ts";
import type { Handler } from "./plain.ts";

interface Hooks {
  hook(name: string, handler: Handler): void;
  callHookWith(caller: (handlers: Handler[], args: [object, object]) => unknown, name: string, args: [object, object]): unknown;
}

async function firstResult(handlers: Handler[], [event, context]: [object, object]): Promise<unknown> {
  for (const handler of handlers) {
    const result = await handler(event, context);
    if (result !== undefined) return result;
  }
  return undefined;
}

export async function hookable(work: Work): Promise<Contestant> {
  const { createHooks } = await installed<{ createHooks: () => Hooks }>("hookable");
  const hooks = createHooks();
  hooks.hook(work.hook, plain(work.handler));
  return contestant("hookable, no sandbox", (at) => hooks.callHookWith(firstResult, work.hook, [eventAt(work, at), work.context]));
}

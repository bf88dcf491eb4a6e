/** In the caller's process, no sandbox: a handler on tapable (webpack), as an asynchronous hook whose first result counts. */
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import { installed } from "./absent.ts";
import { plain } from "./plain.ts";
import type { Handler } from "./plain.ts";

interface Hook {
  tap(name: string, handler: Handler): void;
  promise(event: object, context: object): Promise<unknown>;
}

export async function tapable(work: Work): Promise<Contestant> {
  const { AsyncSeriesBailHook } = await installed<{ AsyncSeriesBailHook: new (names: string[]) => Hook }>("tapable");
  const hook = new AsyncSeriesBailHook(["event", "context"]);
  hook.tap("bench", plain(work.handler));
  return contestant("tapable, no sandbox", (at) => hook.promise(eventAt(work, at), work.context));
}

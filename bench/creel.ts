/** The subject: Creel as a gateway embeds it, through its public entry and nothing else. */
import { openHost } from "creel";
import type { Outcome } from "creel";
import { contestant } from "../src/cli/bench/contestant.ts";
import type { Contestant } from "../src/cli/bench/contestant.ts";
import { asPlugins, eventAt } from "./handlers.ts";
import type { Work } from "./handlers.ts";

export interface SubjectOptions {
  readonly isolation: "thread" | "process";
  /** Plugins with the handler, all in one lane. */
  readonly handlers?: number;
}

export async function creel(work: Work, { isolation, handlers = 1 }: SubjectOptions): Promise<Contestant> {
  const host = await openHost({ isolation, lanes: 1, plugins: asPlugins(work, handlers) });
  const name = `creel, ${isolation}${handlers > 1 ? `, ${handlers} handlers` : ""}`;
  // A work's event and context fit its hook; that they belong together is lost in the table of works.
  const untyped = host.run.bind(host) as (hook: string, event: object, context: object) => Promise<Outcome>;
  const run = (at: number): Promise<Outcome> => untyped(work.hook, eventAt(work, at), work.context);
  // A plugin that did not load would make a very fast host.
  const { calls } = await run(0);
  if (calls.length !== handlers || calls.some(({ status }) => status !== "ok")) throw new Error(`${name}: ${JSON.stringify(calls)}`);
  return contestant(name, run, () => host.close());
}

/** The subject: Creel as a gateway embeds it, through its public entry and nothing else. */
import { openHost } from "creel";
import type { Host, Outcome } from "creel";
import { contestant } from "../src/cli/bench/contestant.ts";
import { asPlugins, bystanders, eventAt } from "./handlers.ts";
import type { Work } from "./handlers.ts";
import type { Served } from "./traffic.ts";

export interface SubjectOptions {
  readonly isolation: "thread" | "process";
  /** Plugins with the handler, all in one lane. */
  readonly handlers?: number;
  /** Plugins beside them that listen to something else. */
  readonly beside?: number;
  /** One, unless lanes are the question. */
  readonly lanes?: number;
}

/** A turn may be unlucky on a crowded machine. More failures than one in so many calls are a finding, and a very fast host. */
const CALLS_PER_FAILURE = 1_000;

export async function creel(work: Work, { isolation, handlers = 1, beside = 0, lanes = 1 }: SubjectOptions): Promise<Served> {
  const name = `creel, ${isolation}${handlers > 1 ? `, ${handlers} handlers` : ""}${beside > 0 ? `, ${handlers + beside} installed` : ""}${lanes > 1 ? `, ${lanes} lanes` : ""}`;
  const complaints: string[] = [];
  const complain = (fields: object, message: string): void => void complaints.push(`${message}: ${JSON.stringify(fields)}`);
  const host = await openHost({
    isolation,
    lanes,
    plugins: [...asPlugins(work, handlers), ...bystanders(beside)],
    // Walls and a spare are the default; memory for hundreds of cells is not.
    config: { sandbox: { memoryMb: 4_096 } },
    logger: { debug() {}, info() {}, warn: complain, error: complain },
  });
  const run = runner(host, work);
  // A plugin that did not load would make a very fast host, too.
  const { calls } = await run(0);
  if (calls.length !== handlers || calls.some(({ status }) => status !== "ok")) throw new Error(`${name}: ${JSON.stringify(calls)}`);
  if (host.plugins().some(({ status }) => status !== "ready")) throw new Error(`${name}: a plugin is not ready`);
  let count = 0;
  const subject = contestant(
    name,
    (at) => {
      count += 1;
      return run(at);
    },
    async () => {
      await host.close();
      if (complaints.length * CALLS_PER_FAILURE > count) throw new Error(`${name}: ${complaints.length} complaints: ${complaints[0]}`);
    },
  );
  return { ...subject, pids: () => (isolation === "process" ? host.pids() : []), isLost: (answer) => !isServed(answer as Outcome) };
}

function isServed({ calls }: Outcome): boolean {
  return calls.every(({ status }) => status === "ok");
}

/** A work's event and context fit its hook; that they belong together is lost in the table of works. */
export function runner(host: Host, work: Work): (at: number) => Promise<Outcome> {
  const untyped = host.run.bind(host) as (hook: string, event: object, context: object) => Promise<Outcome>;
  return (at) => untyped(work.hook, eventAt(work, at), work.context);
}

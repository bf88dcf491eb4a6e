/**
 * The naive way to sandbox a handler: a pool of threads (piscina, as it comes, with as many threads as Creel has lanes), a task per call, isolated-vm's
 * asynchronous `apply` inside.
 */
import { Piscina } from "piscina";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import type { NaiveTask } from "./naive-worker.ts";

/** `atOnce`: tasks that a thread takes at the same time; one, unless it is told. */
export function naive(work: Work, { atOnce = 1 } = {}): Contestant {
  const pool = new Piscina({
    filename: new URL("./naive-worker.ts", import.meta.url).href,
    workerData: { handler: work.handler },
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: atOnce,
  });
  const name = `naive: piscina run + asynchronous apply${atOnce > 1 ? `, ${atOnce} tasks at once` : ""}`;
  return contestant(
    name,
    (at) => pool.run({ event: eventAt(work, at), context: work.context } satisfies NaiveTask),
    () => pool.destroy(),
  );
}

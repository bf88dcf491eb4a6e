/**
 * The lanes' threads, in the sandbox process or, with thread isolation, in the gateway. The one file that imports
 * Piscina, which spawns and ends them. A lane is one long-running task, so Piscina is not on the path of a call.
 */
import { MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import type { Endpoint } from "../lane/thread.ts";

export interface Pool {
  /** Resolves with the reason when any lane has ended. */
  readonly ended: Promise<string>;
  /** Ends the threads. A thread that cannot be ended does not delay it. */
  destroy(): Promise<void>;
}

export function startPool(endpoints: readonly Endpoint[]): Pool {
  const pool = new Piscina({
    filename: new URL(`../lane/thread${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url).href,
    // Threads start when they get their task. With a minimum above zero, Piscina 5.3 starts one more thread while it is
    // destroyed, and leaks it.
    minThreads: 0,
    maxThreads: endpoints.length,
    // The default blocks a worker's event loop between tasks.
    atomics: "disabled",
    recordTiming: false,
    // SECURITY: a lane has no use for the gateway's environment. test/escape/process.test.ts
    env: {},
  });
  const ended = Promise.race(
    endpoints.map((endpoint) =>
      pool.run(endpoint, { transferList: Object.values(endpoint).filter((value) => value instanceof MessagePort) }).then(
        () => "the lane was closed",
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    ),
  );
  return { ended, destroy: () => pool.destroy() };
}

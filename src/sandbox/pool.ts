/**
 * Untrusted side: the threads. The one file that imports Piscina, which spawns, counts and ends them; a lane is one
 * long-running task, so Piscina is not on the path of a call.
 */
import { MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import type { Endpoint } from "./main.ts";

export interface Pool {
  /** Settles when any lane has ended, whatever the reason. */
  readonly ended: Promise<string>;
  /** Ends the threads; does not wait for a thread that cannot be ended. */
  destroy(): Promise<void>;
}

export function startPool(endpoints: readonly Endpoint[]): Pool {
  const pool = new Piscina({
    filename: new URL(`./main${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url).href,
    // Threads start when their task comes. A minimum above zero makes Piscina 5.3 start one more while it is destroyed, and leave it.
    minThreads: 0,
    maxThreads: endpoints.length,
    // The default would stop a worker's event loop between tasks.
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

/**
 * Trusted side: the thread that moves logs into files, one for all stores of the process. It is started when there is something to do, does not keep
 * the process up, and ends when it has been idle. Without it logs would grow until SQLite does it on the gateway's thread.
 */
import { Worker } from "node:worker_threads";
import { LIMITS } from "../../protocol/limits.ts";

const THREAD = new URL(`./checkpoint-thread${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url);

class Checkpoints {
  #thread: Worker | undefined;
  readonly #asked = new Set<string>();
  #idle: NodeJS.Timeout | undefined;

  ask(path: string): void {
    if (this.#asked.has(path)) return;
    this.#asked.add(path);
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    this.#thread.postMessage(path);
  }

  #start(): Worker {
    const thread = new Worker(THREAD, { env: {}, execArgv: [] });
    thread.unref();
    thread.on("message", (path: string) => {
      this.#asked.delete(path);
      if (this.#asked.size > 0) return;
      this.#idle = setTimeout(() => void thread.terminate(), LIMITS.storeThreadIdleMs);
      this.#idle.unref();
    });
    // An error is followed by this.
    thread.on("error", () => {});
    thread.on("exit", () => {
      this.#asked.clear();
      this.#thread = undefined;
    });
    return thread;
  }
}

export const checkpoints = new Checkpoints();

/**
 * Trusted side: the thread that moves logs into files, one for all databases of the process. It starts on demand, does
 * not keep the process alive, and ends when idle. Without it, logs would grow until SQLite moves them on the gateway's
 * thread.
 */
import { Worker } from "node:worker_threads";
import { LIMITS } from "../../protocol/limits.ts";

const THREAD = new URL(`./checkpoint-thread${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url);

class Checkpoints {
  #thread: Worker | undefined;
  readonly #requested = new Set<string>();
  #idle: NodeJS.Timeout | undefined;

  request(path: string): void {
    if (this.#requested.has(path)) return;
    this.#requested.add(path);
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    this.#thread.postMessage(path);
  }

  #start(): Worker {
    const thread = new Worker(THREAD, { env: {}, execArgv: [] });
    thread.unref();
    thread.on("message", (path: string) => {
      this.#requested.delete(path);
      if (this.#requested.size > 0) return;
      this.#idle = setTimeout(() => void thread.terminate(), LIMITS.storage.threadIdleMs);
      this.#idle.unref();
    });
    // Every error is followed by this.
    thread.on("error", () => {});
    thread.on("exit", () => {
      this.#requested.clear();
      this.#thread = undefined;
    });
    return thread;
  }
}

export const checkpoints = new Checkpoints();

/**
 * Trusted side: has plugins bundled, in a process of its own. The bundler's native parser recurses as deep as a text nests, and
 * overflows its stack on five thousand parentheses: whatever a plugin's text does to it, the gateway must not feel it. One process
 * is kept for a short while and shared by all hosts of this one. The plugin it dies on is the one to blame; the others go on.
 */
import { CreelError } from "../protocol/errors.ts";
import { pack } from "../protocol/frame.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Builtin, BundleRequest, BundleScan } from "./bundler-message.ts";
import { oneLine } from "./guest-error.ts";
import { BundlerProcess, PROCESS_OPTIONS } from "./bundler-process.ts";
import type { Answer, ProcessOptions } from "./bundler-process.ts";

const MAX_PROCESSES = 2;
/** A process that does not even start is tried once more. */
const MAX_FAILED_STARTS = 2;

export interface BundlerOptions extends ProcessOptions {
  readonly idleMs: number;
}

interface Job {
  readonly frame: string;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  readonly wasSpared?: boolean;
}

export interface Bundled {
  readonly code: string;
  readonly map: string;
  /** How many files were read for it. */
  readonly files: number;
  readonly builtins: readonly Builtin[];
  readonly own: string;
  readonly scan: BundleScan | undefined;
}

export class Bundler {
  readonly #options: BundlerOptions;
  readonly #queue: Job[] = [];
  /** All that can be used, or will be when they have started. */
  readonly #processes = new Set<BundlerProcess>();
  /** Those without work, with the clocks that end them. */
  readonly #idle = new Map<BundlerProcess, NodeJS.Timeout>();
  /** Those that are ending. */
  readonly #leaving = new Set<BundlerProcess>();
  #failedStarts = 0;

  constructor(options: Partial<BundlerOptions> = {}) {
    this.#options = { ...PROCESS_OPTIONS, idleMs: LIMITS.bundlerIdleMs, ...options };
  }

  /** Rejects with a CreelError: the author's mistake, or that the bundler did not survive it. */
  async bundle(request: BundleRequest, text = ""): Promise<Bundled> {
    const { answer, bodies } = await new Promise<Answer>((resolve, reject) => {
      this.#queue.push({ frame: pack(request, text), resolve, reject });
      this.#staff();
    });
    const [first = "", map = "", own = ""] = bodies;
    if (answer.kind === "bundled") {
      const { files, builtins, scan } = answer;
      return { code: first, map, files, builtins, own, scan };
    }
    const bytes = answer.kind === "refused" ? answer.bytes : undefined;
    if (bytes !== undefined) throw new CreelError("ERR_PLUGIN_SIZE", { bytes, limit: LIMITS.bundleBytes });
    throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: oneLine(first) });
  }

  pids(): number[] {
    return [...this.#processes].flatMap(({ pid }) => pid ?? []);
  }

  /** Ends the processes that have nothing to do, without waiting for their time to be up. */
  async rest(): Promise<void> {
    for (const one of this.#idle.keys()) this.#dismiss(one);
    await Promise.all([...this.#leaving].map((one) => one.gone()));
  }

  /** Gives work to those who have none, and starts one if there is too much of it. */
  #staff(): void {
    for (const [one, clock] of this.#idle) {
      const job = this.#queue.shift();
      if (!job) return;
      clearTimeout(clock);
      this.#idle.delete(one);
      void this.#work(one, job);
    }
    if (this.#queue.length > 0 && this.#needsAnother()) this.#start();
  }

  #needsAnother(): boolean {
    const all = [...this.#processes];
    if (all.length === 0) return true;
    if (all.length >= MAX_PROCESSES || this.#failedStarts > 0) return false;
    return this.#queue.length >= LIMITS.bundleBacklog || all.every(({ busyMs }) => busyMs >= LIMITS.bundleSlowMs);
  }

  #start(): void {
    const one = new BundlerProcess(this.#options);
    this.#processes.add(one);
    void one.ended.then(() => {
      this.#dismiss(one);
      this.#leaving.delete(one);
    });
    one.ready.then(
      () => {
        this.#failedStarts = 0;
        this.#idles(one);
      },
      (error: unknown) => this.#failed(one, error),
    );
  }

  async #work(one: BundlerProcess, job: Job): Promise<void> {
    // Again and again: a timer may be a moment early, and then this one does not count as slow yet.
    const slow = setInterval(() => this.#staff(), LIMITS.bundleSlowMs);
    try {
      job.resolve(await one.work(job.frame));
      this.#idles(one);
    } catch (error) {
      // It may have died of something else, before it could begin: then the plugin is tried once more.
      const isSpared = error instanceof CreelError && error.code === "ERR_BUNDLER_START" && !job.wasSpared;
      if (isSpared) this.#queue.unshift({ ...job, wasSpared: true });
      else job.reject(error);
      this.#dismiss(one);
      this.#staff();
    } finally {
      clearInterval(slow);
    }
  }

  #idles(one: BundlerProcess): void {
    if (!this.#processes.has(one)) return;
    this.#idle.set(one, setTimeout(() => this.#dismiss(one), this.#options.idleMs).unref());
    this.#staff();
  }

  #dismiss(one: BundlerProcess): void {
    clearTimeout(this.#idle.get(one));
    this.#idle.delete(one);
    if (this.#processes.delete(one)) this.#leaving.add(one);
    one.kill();
  }

  #failed(one: BundlerProcess, error: unknown): void {
    this.#dismiss(one);
    this.#failedStarts += 1;
    if (this.#failedStarts >= MAX_FAILED_STARTS && this.#processes.size === 0) {
      this.#failedStarts = 0;
      for (const { reject } of this.#queue.splice(0)) reject(error);
    }
    this.#staff();
  }
}

/** All hosts of this process share it. */
export const bundler = new Bundler();

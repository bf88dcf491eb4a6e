/**
 * Gateway, trusted: has plugins bundled in a child process. The bundler's native parser recurses as deep as a text
 * nests and overflows its stack on five thousand parentheses. Whatever a plugin's text does to the parser must not
 * affect the gateway. One process is kept for a short while and shared by all hosts of the gateway. If it crashes, the
 * plugin it was working on is to blame, and the other plugins go on.
 */
import { CreelError } from "../protocol/errors.ts";
import { pack } from "../transport/frames.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Builtin, BundleRequest, BundleScan } from "./messages.ts";
import { codeFrame } from "./code-frame.ts";
import { oneLine } from "../text/one-line.ts";
import { BundlerProcess, PROCESS_OPTIONS } from "./bundler-process.ts";
import type { Answer, ProcessOptions } from "./bundler-process.ts";

const MAX_PROCESSES = 2;
/** Start a second time before giving up. */
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
  /** The number of files that were read. */
  readonly files: number;
  readonly builtins: readonly Builtin[];
  readonly own: string;
  readonly scan: BundleScan | undefined;
}

export class Bundler {
  readonly #options: BundlerOptions;
  readonly #queue: Job[] = [];
  /** All processes that are usable, or will be once they have started. */
  readonly #processes = new Set<BundlerProcess>();
  /** Idle processes, with the timers that end them. */
  readonly #idle = new Map<BundlerProcess, NodeJS.Timeout>();
  /** Processes that are ending. */
  readonly #leaving = new Set<BundlerProcess>();
  #failedStarts = 0;

  constructor(options: Partial<BundlerOptions> = {}) {
    this.#options = { ...PROCESS_OPTIONS, idleMs: LIMITS.bundler.idleMs, ...options };
  }

  /** Rejects with a CreelError: the author made a mistake, or the bundler crashed. */
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
    if (bytes !== undefined) {
      // Packages by their size, in parentheses.
      const largest = first === "" ? "" : ` ${oneLine(first)}`;
      throw new CreelError("ERR_PLUGIN_SIZE", { bytes, limit: LIMITS.bundler.bundleBytes, largest });
    }
    throw new CreelError("ERR_PLUGIN_BUNDLE", { ...codeFrame(first) });
  }

  pids(): number[] {
    return [...this.#processes].flatMap(({ pid }) => pid ?? []);
  }

  /** All that exist, with their memory; those that are ending have it until then. */
  processes(): { readonly pid: number; readonly rssBytes: number }[] {
    const all = [...this.#processes, ...this.#leaving];
    return all.flatMap(({ pid, rssBytes = 0 }) => (pid === undefined ? [] : [{ pid, rssBytes }]));
  }

  /** Ends idle processes now. */
  async rest(): Promise<void> {
    for (const one of this.#idle.keys()) this.#dismiss(one);
    await Promise.all([...this.#leaving].map((one) => one.gone()));
  }

  /** Gives queued work to idle processes, and starts another process if there is too much of it. */
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
    return this.#queue.length >= LIMITS.bundler.backlog || all.every(({ busyMs }) => busyMs >= LIMITS.bundler.slowMs);
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
    // Repeatedly: a timer may fire a moment early, when this process does not count as slow yet.
    const slow = setInterval(() => this.#staff(), LIMITS.bundler.slowMs);
    try {
      job.resolve(await one.work(job.frame));
      this.#idles(one);
    } catch (error) {
      // It may have died before it began, of something else: try the plugin once more.
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

/** Shared by all hosts of this process. */
export const bundler = new Bundler();

/**
 * Trusted side: the clock of the jobs, one for all plugins: it sleeps until the next is due, of those whose plugin could do it. A job is a call of a
 * function that its plugin has declared, so budgets and breaker are those of every call. Jobs of a plugin that is not there, not
 * ready or not called for a while wait, and so do those without a handler.
 */
import * as z from "zod";
import type { FunctionOutcome } from "../../protocol/functions.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { JobContext } from "../../protocol/schedule-message.ts";
import type { Chain } from "../causes.ts";
import type { Logger } from "../log.ts";
import { nextTime } from "./cron.ts";
import type { Job, ScheduleStore } from "./schedule-store.ts";

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Gives the function that takes it back. */
  readonly wake: (inMs: number, due: () => void) => () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  wake: (inMs, due) => {
    const timer = setTimeout(due, inMs);
    // A job that is due some day does not keep the gateway's process up.
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A plugin that could do its jobs. */
export interface Worker {
  readonly id: string;
  /** Its breaker is open until then. */
  readonly heldUntilMs: number | undefined;
  hasHandler(name: string): boolean;
}

export interface SchedulerOptions {
  readonly store: ScheduleStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workers: () => readonly Worker[];
  readonly call: (job: Job, chain: Chain, context: JobContext) => Promise<FunctionOutcome>;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #running = new Map<string, Set<Job>>();
  #isOpen = false;
  #stopClock: (() => void) | undefined;
  #armedMs = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #looksAgain = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  open(): void {
    this.#isOpen = true;
    this.look();
  }

  /** Begins nothing any more. */
  stop(): void {
    this.#isOpen = false;
    this.#stopClock?.();
    this.#stopClock = undefined;
  }

  /** What has not ended by now is done again after the next start. */
  async close(): Promise<void> {
    this.stop();
    await this.#looking;
    const unfinished = [...this.#running.values()].flatMap((jobs) => [...jobs]);
    await Promise.allSettled(unfinished.map((job) => this.#options.store.release(job, false)));
    await this.#options.store.close();
  }

  /** A job will be due then. */
  expect(dueMs: number): void {
    // Who looks around at the moment may have looked before it was there.
    if (this.#looking) this.#looksAgain = true;
    else if (this.#isOpen && dueMs < this.#armedMs) this.#arm(dueMs);
  }

  /** Something has changed, or is due. */
  look(): void {
    if (!this.#isOpen) return;
    if (this.#looking) {
      this.#looksAgain = true;
      return;
    }
    this.#looking = this.#lookAround().finally(() => {
      this.#looking = undefined;
      if (!this.#looksAgain) return;
      this.#looksAgain = false;
      this.look();
    });
  }

  /** Never rejects. */
  async #lookAround(): Promise<void> {
    const nowMs = this.#options.clock.now();
    let nextMs = nowMs + LIMITS.jobLookMs;
    for (const worker of this.#options.workers()) {
      try {
        nextMs = Math.min(nextMs, await this.#lookAfter(worker, nowMs));
      } catch {
        // The store has said why; it is tried again.
      }
    }
    this.#arm(nextMs);
  }

  /** Begins what is due. Gives when to look again. */
  async #lookAfter(worker: Worker, nowMs: number): Promise<number> {
    const { id, heldUntilMs } = worker;
    if (heldUntilMs !== undefined && heldUntilMs > nowMs) return heldUntilMs;
    const { store } = this.#options;
    const room = LIMITS.jobsAtOnce - (this.#running.get(id)?.size ?? 0);
    const nextMs = (await store.next(id, nowMs)) ?? Number.POSITIVE_INFINITY;
    // The end of one that runs makes room, and looks.
    if (room <= 0) return nextMs;
    // To begin one is to write; most looks find nothing to begin.
    if (!(await store.isAnyDue(id, nowMs))) return nextMs;
    for (const job of await store.begin(id, nowMs, room, (name) => worker.hasHandler(name))) void this.#do(job);
    return nextMs;
  }

  #arm(atMs: number): void {
    this.#stopClock?.();
    this.#stopClock = undefined;
    if (!this.#isOpen) return;
    const { clock } = this.#options;
    this.#armedMs = atMs;
    this.#stopClock = clock.wake(Math.min(Math.max(0, atMs - clock.now()), LIMITS.jobLookMs), () => {
      this.#armedMs = Number.POSITIVE_INFINITY;
      this.look();
    });
  }

  async #do(job: Job): Promise<void> {
    const jobs = this.#running.get(job.plugin) ?? new Set();
    this.#running.set(job.plugin, jobs.add(job));
    try {
      await this.#settle(job, job.attempt > LIMITS.jobAttempts ? undefined : await this.#call(job));
    } catch {
      // The store has said why. The job is ours until the lease ends, and then it is done once more.
    } finally {
      jobs.delete(job);
      this.look();
    }
  }

  #call(job: Job): Promise<FunctionOutcome | "untouched"> {
    const { id, stamp, due, attempt } = job;
    const context = { id, dueAt: due, occurrence: `${stamp}@${due}`, ...(attempt > 1 && { attempt }) };
    // Its handler may have gone since it was looked for.
    return this.#options.call(job, this.#chainOf(job), context).catch(() => "untouched" as const);
  }

  async #settle(job: Job, outcome: FunctionOutcome | "untouched" | undefined): Promise<void> {
    const { store, logger } = this.#options;
    const { plugin, id, name, attempt } = job;
    if (outcome === undefined)
      logger.error({ plugin, job: id, name, attempts: attempt - 1 }, "a job was given up: the gateway died each time it was begun");
    else if (outcome === "untouched" || outcome.status === "quarantined") return store.release(job, true);
    // Cut off by the end of the host, as far as can be known.
    else if (!this.#isOpen && outcome.status !== "ok") return store.release(job, false);
    return store.end(job, this.#again(job));
  }

  /** The next time of a cron from now on: those it has missed meanwhile were this one. */
  #again({ pattern, timezone }: Job): number | undefined {
    if (pattern === null) return undefined;
    try {
      return nextTime(pattern, timezone ?? undefined, this.#options.clock.now());
    } catch {
      // Its timezone is gone from this machine, or its last day is over.
      return undefined;
    }
  }

  /**
   * What it does goes on from the chain it was scheduled in, as a timer's doing does. After a while it is a beginning of its own: a loop that
   * takes that long per round is no flood; the same holds for requests.
   */
  #chainOf({ chain, made, stamp, due }: Job): Chain {
    const isRecent = this.#options.clock.now() - made < LIMITS.causeTokenMs;
    const kept = chain !== null && isRecent ? storedChain.safeParse(JSON.parse(chain)) : undefined;
    if (kept?.success) return { ...kept.data, by: kept.data.by };
    return { rootRunId: `job-${stamp}@${due}`, depth: 0, path: [], runIds: [], by: undefined };
  }
}

const storedChain = z.object({
  rootRunId: z.string(),
  depth: z.int().nonnegative(),
  path: z.array(z.string()),
  runIds: z.array(z.string()),
  by: z.string().optional(),
});

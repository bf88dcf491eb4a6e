/**
 * Trusted side: runs the jobs of all plugins. Sleeps until the next job is due whose plugin could run it. A job is a
 * call of a function that its plugin has declared, so the usual budgets and breaker apply. Jobs wait while their plugin
 * is missing, not ready or quarantined, and while they have no handler.
 */
import type { FunctionOutcome } from "../../../protocol/messages/functions.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { JobContext } from "../../../protocol/messages/schedule.ts";
import type { Claimed, Duties } from "../../duties.ts";
import type { Chain } from "../../causality/causes.ts";
import { chainOfStored } from "../../causality/stored-chain.ts";
import type { Logger } from "../../report/log.ts";
import { nextTime } from "./cron.ts";
import type { JobStore } from "../../stores.ts";
import type { Job } from "./schedule-database.ts";

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Returns the function that cancels it. */
  readonly setTimer: (inMs: number, due: () => void) => () => void;
  /** The longest sleep. Default: `LIMITS.schedule.jobLookMs`. */
  readonly longestMs?: number;
}

export const systemClock: Clock = {
  now: Date.now,
  setTimer: (inMs, due) => {
    const timer = setTimeout(due, inMs);
    // A job in the future does not keep the gateway's process alive.
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A plugin that could run its jobs. */
export interface Worker {
  readonly id: string;
  /** When its open breaker closes. */
  readonly heldUntilMs: number | undefined;
  hasHandler(name: string): boolean;
}

export interface SchedulerOptions {
  readonly database: JobStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workers: () => readonly Worker[];
  /** Crons are shared with other hosts; undefined: all of them are this host's. */
  readonly duties?: Pick<Duties, "claim"> | undefined;
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
  /** How often it has looked. */
  rounds = 0;
  /** Until then no cron begins: it is not known whose it is. */
  #cronsHeldMs = 0;
  /** Jobs that are being written off. */
  #settling = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  open(): void {
    this.#isOpen = true;
    this.look();
  }

  /** Begins no more jobs. */
  stop(): void {
    this.#isOpen = false;
    this.#stopClock?.();
    this.#stopClock = undefined;
  }

  /** Jobs that have not ended by now run again after the next start. */
  async close(): Promise<void> {
    this.stop();
    await this.#looking;
    const unfinished = [...this.#running.values()].flatMap((jobs) => [...jobs]);
    await Promise.allSettled(unfinished.map((job) => this.#options.database.release(job, false)));
    await this.#options.database.close();
  }

  /** Jobs that have begun. */
  get running(): number {
    return [...this.#running.values()].reduce((sum, jobs) => sum + jobs.size, 0);
  }

  /** It begins jobs, or writes down how they ended. */
  get isWorking(): boolean {
    return this.#looking !== undefined || this.#settling > 0;
  }

  /** A job will be due then. */
  expect(dueMs: number): void {
    // The check that is running may have read the table before the job was in it.
    if (this.#looking) this.#looksAgain = true;
    else if (this.#isOpen && dueMs < this.#armedMs) this.#arm(dueMs);
  }

  /** Checks again: something has changed or is due. */
  look(): void {
    if (!this.#isOpen) return;
    if (this.#looking) {
      this.#looksAgain = true;
      return;
    }
    this.rounds += 1;
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
    let nextMs = nowMs + this.#longestMs;
    for (const worker of this.#options.workers()) {
      try {
        nextMs = Math.min(nextMs, await this.#lookAfter(worker, nowMs));
      } catch {
        // The database has logged why; try again later.
      }
    }
    this.#arm(nextMs);
  }

  /** Begins what is due. Returns when to check again. */
  async #lookAfter(worker: Worker, nowMs: number): Promise<number> {
    const { id, heldUntilMs } = worker;
    if (heldUntilMs !== undefined && heldUntilMs > nowMs) return heldUntilMs;
    const { database } = this.#options;
    const room = LIMITS.schedule.jobsAtOnce - (this.#running.get(id)?.size ?? 0);
    const nextMs = (await database.next(id, nowMs)) ?? Number.POSITIVE_INFINITY;
    // The end of a running job makes room and checks again.
    if (room <= 0) return nextMs;
    // Beginning a job is a write, and most checks find nothing to begin.
    if (!(await database.isAnyDue(id, nowMs))) return nextMs;
    const isHeld = this.#cronsHeldMs > nowMs;
    for (const job of await database.begin(id, nowMs, room, (name, isCron) => !(isCron && isHeld) && worker.hasHandler(name)))
      void this.#do(job);
    return isHeld ? Math.min(nextMs, this.#cronsHeldMs) : nextMs;
  }

  #arm(atMs: number): void {
    this.#stopClock?.();
    this.#stopClock = undefined;
    if (!this.#isOpen) return;
    const { clock } = this.#options;
    this.#armedMs = atMs;
    this.#stopClock = clock.setTimer(Math.min(Math.max(0, atMs - clock.now()), this.#longestMs), () => {
      this.#armedMs = Number.POSITIVE_INFINITY;
      this.look();
    });
  }

  async #do(job: Job): Promise<void> {
    const jobs = this.#running.get(job.plugin) ?? new Set();
    this.#running.set(job.plugin, jobs.add(job));
    try {
      const claimed = await this.#claim(job);
      if (claimed !== "mine") return await this.#leave(job, claimed);
      // The host began to close meanwhile. The claim stays this host's, so the job begins after its next start.
      if (!this.#isOpen) return await this.#options.database.release(job, true);
      const outcome = job.attempt > LIMITS.schedule.jobAttempts ? undefined : await this.#call(job);
      this.#settling += 1;
      await this.#settle(job, outcome).finally(() => (this.#settling -= 1));
    } catch {
      // The database has logged why. The lease keeps the job until it lapses; then the job runs once more.
    } finally {
      jobs.delete(job);
      this.look();
    }
  }

  #claim({ plugin, id, pattern, timezone, due }: Job): Claimed | Promise<Claimed> {
    const { duties } = this.#options;
    return duties === undefined || pattern === null ? "mine" : duties.claim({ plugin, id, pattern, timezone, due });
  }

  /** Another host runs it, or nobody knows yet. */
  #leave(job: Job, claimed: "taken" | "unknown"): Promise<void> {
    const { database, clock } = this.#options;
    if (claimed === "taken") return database.end(job, this.#again(job));
    this.#cronsHeldMs = clock.now() + LIMITS.schedule.claimAgainMs;
    return database.release(job, true);
  }

  get #longestMs(): number {
    return this.#options.clock.longestMs ?? LIMITS.schedule.jobLookMs;
  }

  #call(job: Job): Promise<FunctionOutcome | "untouched"> {
    const { id, stamp, due, attempt } = job;
    const context = { id, dueAt: due, occurrence: `${stamp}@${due}`, ...(attempt > 1 && { attempt }) };
    // Its handler may be gone by now.
    return this.#options.call(job, this.#chainOf(job), context).catch(() => "untouched" as const);
  }

  async #settle(job: Job, outcome: FunctionOutcome | "untouched" | undefined): Promise<void> {
    const { database, logger } = this.#options;
    const { plugin, id, name, attempt } = job;
    if (outcome === undefined)
      logger.error({ plugin, job: id, name, attempts: attempt - 1 }, "dropped a job: the gateway died each time it ran");
    else if (outcome === "untouched" || outcome.status === "quarantined") return database.release(job, true);
    // The end of the host cut it off, as far as we can tell.
    else if (!this.#isOpen && outcome.status !== "ok") return database.release(job, false);
    return database.end(job, this.#again(job));
  }

  /** The next time of a cron from now on: this run stands for all that it missed. */
  #again({ pattern, timezone }: Job): number | undefined {
    if (pattern === null) return undefined;
    try {
      return nextTime(pattern, timezone ?? undefined, this.#options.clock.now());
    } catch {
      // Its time zone is missing on this machine, or it never matches again.
      return undefined;
    }
  }

  #chainOf({ chain, made, stamp, due }: Job): Chain {
    return chainOfStored(chain, made, this.#options.clock.now(), `job-${stamp}@${due}`);
  }
}

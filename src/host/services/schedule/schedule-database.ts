/**
 * Trusted side: the jobs of all plugins, in one file. A job begins when its lease is written, before its handler is
 * called. It ends when it is deleted or its next time is written. So a job that a crash cut off is known to have begun,
 * and runs again: at least once, and never twice at the same time.
 */
import { randomBytes } from "node:crypto";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { ScheduledJob } from "../../../protocol/messages/schedule.ts";
import { LazyDatabase } from "../../storage/lazy-database.ts";
import type { LazyDatabaseSpec } from "../../storage/lazy-database.ts";
import { isLeaseAlive, Lease } from "../../storage/lease.ts";
import { SCHEDULE_SCHEMA, SCHEDULE_SCHEMA_VERSION, scheduleStatements } from "./schedule-tables.ts";
import type { JobRow, ScheduleStatements } from "./schedule-tables.ts";

export type ScheduleDatabaseOptions = Pick<LazyDatabaseSpec<unknown>, "path" | "onSetAside" | "onFailure">;

export interface NewJob {
  readonly plugin: string;
  readonly id: string;
  readonly name: string;
  readonly data: string;
  readonly pattern: string | undefined;
  readonly timezone: string | undefined;
  readonly due: number;
  readonly made: number;
  readonly chain: string | undefined;
}

/** One occurrence of a job. */
export type Job = JobRow;

export class ScheduleDatabase {
  readonly #database: LazyDatabase<ScheduleStatements>;
  readonly #lease = new Lease();

  constructor(options: ScheduleDatabaseOptions) {
    this.#database = new LazyDatabase({
      ...options,
      version: SCHEDULE_SCHEMA_VERSION,
      schema: SCHEDULE_SCHEMA,
      prepare: scheduleStatements,
    });
  }

  /**
   * Replaces a job of the same id. A cron that is given again, as at every start, goes on unchanged: it does not make
   * up for what it missed.
   */
  put({ plugin, id, name, data, pattern, timezone, due, made, chain }: NewJob): Promise<void> {
    return this.#database.transact((sql) => {
      const old = sql.get.get(plugin, id) as JobRow | undefined;
      if (pattern !== undefined && old?.pattern === pattern && old.timezone === (timezone ?? null)) {
        sql.keep.run(name, data, plugin, id);
        return;
      }
      const { jobs } = sql.count.get(plugin) as { jobs: number };
      if (!old && jobs >= LIMITS.schedule.jobs) throw new CreelError("ERR_SCHEDULE_QUOTA", { limit: LIMITS.schedule.jobs });
      const stamp = randomBytes(9).toString("base64url");
      sql.put.run(plugin, id, stamp, name, data, pattern ?? null, timezone ?? null, due, made, chain ?? null);
    });
  }

  /** True: the job existed. One that has begun goes on. */
  cancel(plugin: string, id: string): Promise<boolean> {
    return this.#database.do((sql) => sql.cancel.run(plugin, id).changes === 1);
  }

  /** The next one first. */
  list(plugin: string): Promise<ScheduledJob[]> {
    return this.#database.do((sql) =>
      (sql.list.all(plugin) as unknown as JobRow[]).map(({ id, name, due, pattern, timezone }) => ({
        id,
        name,
        dueAt: due,
        ...(pattern !== null && { pattern }),
        ...(timezone !== null && { timezone }),
      })),
    );
  }

  /** Leases jobs that are due, may begin and are not leased, the oldest first. */
  begin(plugin: string, nowMs: number, most: number, mayBegin: (name: string, isCron: boolean) => boolean): Promise<Job[]> {
    return this.#database.transact((sql) => {
      const due = sql.due.all(plugin, nowMs) as unknown as Pick<JobRow, "id" | "name" | "pattern" | "holder" | "until">[];
      const free = due.filter((job) => isFree(job, nowMs) && mayBegin(job.name, job.pattern !== null)).slice(0, most);
      return free.map(({ id }) => {
        const job = sql.get.get(plugin, id) as unknown as JobRow;
        sql.begin.run(this.#lease.name, nowMs + LIMITS.schedule.jobLeaseMs, plugin, id);
        return { ...job, attempt: job.attempt + 1 };
      });
    });
  }

  isAnyDue(plugin: string, nowMs: number): Promise<boolean> {
    return this.#database.do((sql) => sql.isDue.get(plugin, nowMs) !== undefined);
  }

  /** When the plugin's next job after that time is due. */
  async next(plugin: string, afterMs: number): Promise<number | undefined> {
    return this.#database.do((sql) => (sql.next.get(plugin, afterMs) as { due: number | null }).due ?? undefined);
  }

  /** The job is done; `againMs` is its next time. Ignores one that was replaced or cancelled meanwhile. */
  end({ plugin, id, stamp, due }: Job, againMs: number | undefined): Promise<void> {
    return this.#database.do((sql) => {
      if (againMs === undefined) sql.delete.run(plugin, id, stamp, due);
      else sql.again.run(againMs, plugin, id, stamp, due);
    });
  }

  /** Ends the lease. `isUntouched`: the handler was never called. */
  release({ plugin, id, stamp }: Job, isUntouched: boolean): Promise<void> {
    return this.#database.do((sql) => void sql.release.run(isUntouched ? 1 : 0, plugin, id, stamp, this.#lease.name));
  }

  async close(): Promise<void> {
    await this.#database.close();
    this.#lease.end();
  }
}

function isFree({ holder, until }: Pick<JobRow, "holder" | "until">, nowMs: number): boolean {
  if (holder === null || until === null) return true;
  return isLeaseAlive(holder) === false || until <= nowMs;
}

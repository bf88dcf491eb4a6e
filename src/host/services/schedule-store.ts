/**
 * Trusted side: the jobs of all plugins, in one file. A job is begun by writing down who does, before its handler is called, and ended by deleting it, or
 * by setting its next time: so after a crash it is known to have been begun, and is done once more. It is done at least once, and never by two at a time.
 */
import { randomBytes } from "node:crypto";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ScheduledJob } from "../../protocol/schedule-message.ts";
import { Store } from "../store/store.ts";
import type { StoreSpec } from "../store/store.ts";
import { isHolderAlive, JobHolder } from "./job-holder.ts";
import { SCHEDULE_SCHEMA, SCHEDULE_SCHEMA_VERSION, scheduleStatements } from "./schedule-tables.ts";
import type { JobRow, ScheduleStatements } from "./schedule-tables.ts";

export type ScheduleStoreOptions = Pick<StoreSpec<unknown>, "path" | "onSetAside" | "onFailure">;

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

export class ScheduleStore {
  readonly #store: Store<ScheduleStatements>;
  readonly #holder = new JobHolder();

  constructor(options: ScheduleStoreOptions) {
    this.#store = new Store({
      ...options,
      version: SCHEDULE_SCHEMA_VERSION,
      schema: SCHEDULE_SCHEMA,
      prepare: scheduleStatements,
    });
  }

  /** One of the same id is replaced. A cron that is given again, as at every start, goes on as it was: what it has missed, it has missed. */
  put({ plugin, id, name, data, pattern, timezone, due, made, chain }: NewJob): Promise<void> {
    return this.#store.transact((sql) => {
      const old = sql.get.get(plugin, id) as JobRow | undefined;
      if (pattern !== undefined && old?.pattern === pattern && old.timezone === (timezone ?? null)) {
        sql.keep.run(name, data, plugin, id);
        return;
      }
      const { jobs } = sql.count.get(plugin) as { jobs: number };
      if (!old && jobs >= LIMITS.jobs) throw new CreelError("ERR_SCHEDULE_QUOTA", { limit: LIMITS.jobs });
      const stamp = randomBytes(9).toString("base64url");
      sql.put.run(plugin, id, stamp, name, data, pattern ?? null, timezone ?? null, due, made, chain ?? null);
    });
  }

  /** True: there was one. What was begun goes on. */
  cancel(plugin: string, id: string): Promise<boolean> {
    return this.#store.do((sql) => sql.cancel.run(plugin, id).changes === 1);
  }

  /** The next one first. */
  list(plugin: string): Promise<ScheduledJob[]> {
    return this.#store.do((sql) =>
      (sql.list.all(plugin) as unknown as JobRow[]).map(({ id, name, due, pattern, timezone }) => ({
        id,
        name,
        dueAt: due,
        ...(pattern !== null && { pattern }),
        ...(timezone !== null && { timezone }),
      })),
    );
  }

  /** Jobs that are due, that have a handler and that nobody has begun, the oldest first, now begun by us. */
  begin(plugin: string, nowMs: number, most: number, hasHandler: (name: string) => boolean): Promise<Job[]> {
    return this.#store.transact((sql) => {
      const due = sql.due.all(plugin, nowMs) as unknown as Pick<JobRow, "id" | "name" | "holder" | "until">[];
      const free = due.filter((job) => isFree(job, nowMs) && hasHandler(job.name)).slice(0, most);
      return free.map(({ id }) => {
        const job = sql.get.get(plugin, id) as unknown as JobRow;
        sql.begin.run(this.#holder.name, nowMs + LIMITS.jobLeaseMs, plugin, id);
        return { ...job, attempt: job.attempt + 1 };
      });
    });
  }

  isAnyDue(plugin: string, nowMs: number): Promise<boolean> {
    return this.#store.do((sql) => sql.isDue.get(plugin, nowMs) !== undefined);
  }

  /** When the plugin's next job after that time is due. */
  async next(plugin: string, afterMs: number): Promise<number | undefined> {
    return this.#store.do((sql) => (sql.next.get(plugin, afterMs) as { due: number | null }).due ?? undefined);
  }

  /** It is done; `againMs` is when it comes again. One that was replaced or cancelled meanwhile is another. */
  end({ plugin, id, stamp, due }: Job, againMs: number | undefined): Promise<void> {
    return this.#store.do((sql) => {
      if (againMs === undefined) sql.delete.run(plugin, id, stamp, due);
      else sql.again.run(againMs, plugin, id, stamp, due);
    });
  }

  /** It is free again. `isUntouched`: its handler was never called. */
  release({ plugin, id, stamp }: Job, isUntouched: boolean): Promise<void> {
    return this.#store.do((sql) => void sql.release.run(isUntouched ? 1 : 0, plugin, id, stamp, this.#holder.name));
  }

  async close(): Promise<void> {
    await this.#store.close();
    this.#holder.end();
  }
}

function isFree({ holder, until }: Pick<JobRow, "holder" | "until">, nowMs: number): boolean {
  if (holder === null || until === null) return true;
  return isHolderAlive(holder) === false || until <= nowMs;
}

/** The author's side: types of `api.schedule`. */
import type { HandlerOptions } from "./plugin.ts";

export interface Job {
  readonly id: string;
  readonly name: string;
  /** When it was, or is, to be done. */
  readonly dueAt: Date;
}

export interface JobCall extends Job {
  /** 1, or more when it was begun before and the gateway died, or the sandbox, before it had ended. */
  readonly attempt: number;
  /** The same for every attempt at it, and for nothing else: what to remember it by where it must not be done twice. */
  readonly occurrence: string;
}

export interface ScheduledJob extends Job {
  /** Of a cron. */
  readonly pattern?: string;
  readonly timezone?: string;
}

export interface JobOptions {
  /** A job of the same id is replaced. */
  id?: string;
}

/**
 * Work at a later time. Jobs survive restarts where the gateway has a `stateDir`; one that was due while it was down is done once, at the next
 * start. A job is done at least once: it is begun again when the gateway dies in the middle. One that throws is not.
 */
export interface PluginSchedule {
  /** Who does the jobs of that name. Only while `register` runs. */
  on(name: string, handler: (data: any, job: JobCall) => unknown, options?: Pick<HandlerOptions, "timeoutMs" | "cpuMs">): void;
  /** Once, after so many milliseconds, 100 at least. Gives the job's id. */
  delay(name: string, ms: number, data?: unknown, options?: JobOptions): Promise<string>;
  /**
   * Again and again, by a pattern of five fields such as `0 9 * * 1-5`, in the gateway's timezone if none is given. Without an id it is known by its name;
   * given again with the same pattern, as at every start, it goes on as it was.
   */
  cron(name: string, pattern: string, data?: unknown, options?: JobOptions & { timezone?: string }): Promise<string>;
  /** True: there was one. */
  cancel(id: string): Promise<boolean>;
  /** All that wait, the next one first. */
  list(): Promise<ScheduledJob[]>;
}

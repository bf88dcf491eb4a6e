/** Trusted side: what plugins may request from the schedule (`api.schedule`). scheduler.ts runs the jobs. */
import { randomBytes } from "node:crypto";
import { LIMITS } from "../../../protocol/limits.ts";
import { scheduleRequest } from "../../../protocol/messages/schedule.ts";
import type { ScheduleResponses } from "../../../protocol/messages/schedule.ts";
import type { Duties } from "../../duties.ts";
import type { Causes } from "../../causality/causes.ts";
import type { Functions } from "../../functions/functions.ts";
import type { Logger } from "../../report/log.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { JobStore, Stores } from "../../stores.ts";
import { FailureLog } from "../../storage/failure-log.ts";
import { nextTime } from "./cron.ts";
import { PluginRates } from "../plugin-rates.ts";
import { Scheduler, systemClock } from "./scheduler.ts";
import type { Clock, Worker } from "./scheduler.ts";
import { checked, demand } from "../service.ts";
import type { ServiceRequest, Service, ServiceGroup } from "../service.ts";

export interface ScheduleOptions {
  readonly stores: Pick<Stores, "jobs">;
  readonly causes: Causes;
  readonly logger: Logger;
  readonly functions: Functions;
  readonly plugins: () => readonly Plugin[];
  readonly clock?: Clock;
  readonly duties?: Duties | undefined;
}

export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #clock: Clock;
  readonly #database: JobStore;
  readonly #scheduler: Scheduler;
  readonly #questions = new PluginRates("ERR_SCHEDULE_RATE", LIMITS.schedule.perWindow, LIMITS.schedule.windowMs);
  readonly #patterns = new PluginRates("ERR_SCHEDULE_RATE", LIMITS.schedule.cronsPerWindow, LIMITS.schedule.windowMs);

  constructor(options: ScheduleOptions) {
    this.#options = options;
    const { stores, logger, functions } = options;
    this.#clock = options.clock ?? systemClock;
    this.#database = stores.jobs((path) => {
      const failures = new FailureLog((err, more) => logger.error({ path, err, ...more }, "schedule database failed"));
      return {
        onSetAside: (aside, detail) =>
          logger.error({ path, aside, detail }, "schedule database was broken and was set aside; starting without jobs"),
        onFailure: (error) => failures.failed(error),
      };
    });
    this.#scheduler = new Scheduler({
      database: this.#database,
      clock: this.#clock,
      logger,
      workers: () => this.#workers(),
      duties: options.duties,
      call: ({ plugin, name, data }, chain, context) => functions.call(plugin, "job", name, [data], { chain, context: { ...context } }),
    });
  }

  /** The host is open. */
  open(): void {
    this.#scheduler.open();
  }

  /** A plugin was loaded, or its breaker has changed. */
  look(): void {
    this.#scheduler.look();
  }

  /** The host is about to close: begins no more jobs. */
  stop(): void {
    this.#scheduler.stop();
  }

  close(): Promise<void> {
    return this.#scheduler.close();
  }

  /** For a clock that waits for what it has caused. */
  get progress(): Pick<Scheduler, "isWorking" | "running" | "rounds"> {
    return this.#scheduler;
  }

  /** Throws when the plugin is over its rate. */
  admit(plugin: Plugin): void {
    this.#questions.take(plugin.id);
  }

  async delay({ plugin, run, args }: ServiceRequest): Promise<ScheduleResponses["schedule.delay"]> {
    const { name, ms, data, id = randomBytes(9).toString("base64url") } = checked(scheduleRequest.delay, args, "schedule.delay");
    return this.#put(plugin, run, { id, name, data, due: Math.ceil(this.#clock.now() + Math.max(ms, LIMITS.schedule.jobDelayMs)) });
  }

  /** Without an id, the name identifies a job: the plugin gives it again at every start, and it must not become two. */
  async cron({ plugin, run, args }: ServiceRequest): Promise<ScheduleResponses["schedule.cron"]> {
    const { name, pattern, timezone, data, id = name } = checked(scheduleRequest.cron, args, "schedule.cron");
    this.#patterns.take(plugin.id);
    const due = nextTime(pattern, timezone, this.#clock.now());
    return this.#put(plugin, run, { id, name, data, due, pattern, timezone });
  }

  cancel({ plugin, args }: ServiceRequest): Promise<ScheduleResponses["schedule.cancel"]> {
    return this.#database.cancel(plugin.id, checked(scheduleRequest.cancel, args, "schedule.cancel").id);
  }

  list({ plugin, args }: ServiceRequest): Promise<ScheduleResponses["schedule.list"]> {
    checked(scheduleRequest.list, args, "schedule.list");
    return this.#database.list(plugin.id);
  }

  async #put(
    { id: plugin }: Plugin,
    run: number,
    job: { id: string; name: string; data: string; due: number; pattern?: string; timezone?: string | undefined },
  ): Promise<string> {
    const chain = this.#options.causes.origin(run, plugin);
    await this.#database.put({
      pattern: undefined,
      timezone: undefined,
      ...job,
      plugin,
      made: this.#clock.now(),
      chain: chain && JSON.stringify(chain),
    });
    this.#scheduler.expect(job.due);
    return job.id;
  }

  #workers(): Worker[] {
    const { functions, plugins } = this.#options;
    return plugins()
      .filter(({ status, grants }) => status === "ready" && grants.schedule)
      .map(({ id, circuit, diagnostics }) => ({
        id,
        heldUntilMs: circuit.until?.getTime(),
        hasHandler: (name) => {
          const isThere = functions.has(id, "job", name);
          if (!isThere) diagnostics.set("job", `jobs wait for a handler named "${name}", which the plugin does not declare`);
          return isThere;
        },
      }));
  }
}

function granted(schedule: Schedule, answer: (request: ServiceRequest) => Promise<unknown>): Service {
  return {
    permit: (plugin) => demand(plugin.grants.schedule === true, plugin, "schedule", "schedule: true"),
    answer: (request) => {
      schedule.admit(request.plugin);
      return answer(request);
    },
  };
}

export function scheduleServices(schedule: Schedule): ServiceGroup {
  return {
    services: {
      "schedule.delay": granted(schedule, (request) => schedule.delay(request)),
      "schedule.cron": granted(schedule, (request) => schedule.cron(request)),
      "schedule.cancel": granted(schedule, (request) => schedule.cancel(request)),
      "schedule.list": granted(schedule, (request) => schedule.list(request)),
    },
    close: () => schedule.close(),
  };
}

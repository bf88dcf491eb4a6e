/** Trusted side: what plugins may ask of the schedule (`api.schedule`). When and how jobs are done is in scheduler.ts. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { LIMITS } from "../../protocol/limits.ts";
import { scheduleQuestion } from "../../protocol/schedule-message.ts";
import type { ScheduleAnswers } from "../../protocol/schedule-message.ts";
import type { Causes } from "../causes.ts";
import type { Functions } from "../functions.ts";
import type { Logger } from "../log.ts";
import type { Plugin } from "../plugin.ts";
import { nextTime } from "./cron.ts";
import { Rate } from "./rate.ts";
import { ScheduleStore } from "./schedule-store.ts";
import { Scheduler, systemClock } from "./scheduler.ts";
import type { Clock, Worker } from "./scheduler.ts";
import { demand } from "./service.ts";
import type { Asked, Service, ServiceGroup } from "./service.ts";
import { checked } from "./session.ts";

export interface ScheduleOptions {
  /** Undefined: in memory. */
  readonly stateDir: string | undefined;
  readonly causes: Causes;
  readonly logger: Logger;
  readonly functions: Functions;
  readonly plugins: () => readonly Plugin[];
  readonly clock?: Clock;
}

export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #clock: Clock;
  readonly #store: ScheduleStore;
  readonly #scheduler: Scheduler;
  readonly #questions = new Rate("ERR_SCHEDULE_RATE", LIMITS.schedulesPerWindow, LIMITS.scheduleWindowMs);
  readonly #patterns = new Rate("ERR_SCHEDULE_RATE", LIMITS.cronsPerWindow, LIMITS.scheduleWindowMs);

  constructor(options: ScheduleOptions) {
    this.#options = options;
    const { stateDir, logger, functions } = options;
    this.#clock = options.clock ?? systemClock;
    const path = stateDir === undefined ? undefined : join(stateDir, "schedule.sqlite");
    this.#store = new ScheduleStore({
      path,
      onSetAside: (aside, detail) =>
        logger.error({ path, aside, detail }, "the file of jobs was broken and was set aside; there are none now"),
      onFailure: (error) => logger.error({ path, err: error }, "the file of jobs failed"),
    });
    this.#scheduler = new Scheduler({
      store: this.#store,
      clock: this.#clock,
      logger,
      workers: () => this.#workers(),
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

  /** The host is about to close: no job is begun any more. */
  stop(): void {
    this.#scheduler.stop();
  }

  close(): Promise<void> {
    return this.#scheduler.close();
  }

  /** Throws when the plugin may not ask. */
  admit(plugin: Plugin): void {
    demand(plugin.grants.schedule === true, plugin, "schedule", "schedule: true");
    this.#questions.take(plugin.id);
  }

  async delay({ plugin, run, args }: Asked): Promise<ScheduleAnswers["schedule.delay"]> {
    const { name, ms, data, id = randomBytes(9).toString("base64url") } = checked(scheduleQuestion.delay, args, "schedule.delay");
    return this.#put(plugin, run, { id, name, data, due: Math.ceil(this.#clock.now() + Math.max(ms, LIMITS.jobDelayMs)) });
  }

  /** Without an id it is known by its name: it is given again at every start, and must not become two. */
  async cron({ plugin, run, args }: Asked): Promise<ScheduleAnswers["schedule.cron"]> {
    const { name, pattern, timezone, data, id = name } = checked(scheduleQuestion.cron, args, "schedule.cron");
    this.#patterns.take(plugin.id);
    const due = nextTime(pattern, timezone, this.#clock.now());
    return this.#put(plugin, run, { id, name, data, due, pattern, timezone });
  }

  cancel({ plugin, args }: Asked): Promise<ScheduleAnswers["schedule.cancel"]> {
    return this.#store.cancel(plugin.id, checked(scheduleQuestion.cancel, args, "schedule.cancel").id);
  }

  list({ plugin, args }: Asked): Promise<ScheduleAnswers["schedule.list"]> {
    checked(scheduleQuestion.list, args, "schedule.list");
    return this.#store.list(plugin.id);
  }

  async #put(
    { id: plugin }: Plugin,
    run: number,
    job: { id: string; name: string; data: string; due: number; pattern?: string; timezone?: string | undefined },
  ): Promise<string> {
    const chain = this.#options.causes.origin(run, plugin);
    await this.#store.put({
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
      .map(({ id, circuit, remarks }) => ({
        id,
        heldUntilMs: circuit.until?.getTime(),
        hasHandler: (name) => {
          const isThere = functions.has(id, "job", name);
          if (!isThere) remarks.set("job", `jobs wait for a handler named "${name}", which the plugin does not declare`);
          return isThere;
        },
      }));
  }
}

function granted(schedule: Schedule, answer: (asked: Asked) => Promise<unknown>): Service {
  return {
    answer: (asked) => {
      schedule.admit(asked.plugin);
      return answer(asked);
    },
  };
}

export function scheduleServices(schedule: Schedule): ServiceGroup {
  return {
    services: {
      "schedule.delay": granted(schedule, (asked) => schedule.delay(asked)),
      "schedule.cron": granted(schedule, (asked) => schedule.cron(asked)),
      "schedule.cancel": granted(schedule, (asked) => schedule.cancel(asked)),
      "schedule.list": granted(schedule, (asked) => schedule.list(asked)),
    },
    close: () => schedule.close(),
  };
}

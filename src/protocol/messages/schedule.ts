/**
 * Requests of a plugin to the schedule, and the host's responses. A job's data is JSON text, as a stored value is: only
 * the plugin reads it.
 */
import * as z from "zod";
import { LIMITS } from "../limits.ts";

/** Part of log lines. */
const name = z
  .string()
  .min(1)
  .max(LIMITS.call.nameChars)
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "it has control characters, or halves of characters, in it");
const data = z
  .string()
  .refine(
    (text) => Buffer.byteLength(text) <= LIMITS.schedule.jobDataBytes,
    `a job may carry ${LIMITS.schedule.jobDataBytes} bytes of JSON`,
  );

/** Guest → host: not trusted. */
export const scheduleRequest = {
  delay: z.strictObject({ name, ms: z.number().nonnegative().max(LIMITS.schedule.jobMaxDelayMs), data, id: name.optional() }),
  cron: z.strictObject({
    name,
    pattern: z.string().max(LIMITS.schedule.cronChars),
    timezone: z.string().max(LIMITS.call.nameChars).optional(),
    data,
    id: name.optional(),
  }),
  cancel: z.strictObject({ id: name }),
  list: z.strictObject({}),
};

/** Host → guest. */
export interface ScheduledJob {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
  readonly pattern?: string;
  readonly timezone?: string;
}

export interface ScheduleResponses {
  "schedule.delay": string;
  "schedule.cron": string;
  "schedule.cancel": boolean;
  "schedule.list": readonly ScheduledJob[];
}

/** What a job's handler gets beside its data. */
export interface JobContext {
  readonly id: string;
  readonly dueAt: number;
  /** The same for every attempt at one occurrence, and for no other. */
  readonly occurrence: string;
  /** Missing: it is the first attempt. */
  readonly attempt?: number;
}

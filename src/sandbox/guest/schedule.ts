/** Inside the isolate: `api.schedule`. A handler is a function that the host may call, by its name, so that jobs find it again after a restart. */
import type { JobContext, ScheduleAnswers } from "../../protocol/schedule-message.ts";
import { settled } from "./abortable.ts";
import { ask } from "./asks.ts";
import { declareFunction, isRegistering } from "./declared.ts";
import {
  bare,
  call,
  isThenable,
  mapGet,
  mapSet,
  NativeDate,
  NativeError,
  NativeMap,
  NativeTypeError,
  parse,
  stringify,
} from "./primordials.ts";

const names = new NativeMap<string, boolean>();

function on(name: unknown, handler: unknown, options?: unknown): void {
  if (typeof name !== "string" || name === "") throw new NativeError("api.schedule.on needs a name");
  if (typeof handler !== "function") throw new NativeError(`api.schedule.on("${name}") needs a handler function`);
  const run = (args: unknown[], context: Record<string, unknown>): unknown => {
    const { id, dueAt, occurrence, attempt = 1 } = context as unknown as JobContext;
    const told = { id, name, dueAt: new NativeDate(dueAt), occurrence, attempt };
    const value = call(handler as () => unknown, undefined, [parse(args[0] as string), told]);
    // Nobody reads what it returns: it need not be data.
    return isThenable(value) ? settled(value, () => undefined) : undefined;
  };
  declareFunction("job", name, bare({}), run, options);
  mapSet(names, name, true);
}

/** While it registers, a plugin may still declare the handler. */
function checkHandler(name: string): void {
  if (!isRegistering() && mapGet(names, name) === undefined)
    throw new NativeError(`there is no handler of that name: register needs api.schedule.on("${name}", …)`);
}

function put<S extends keyof ScheduleAnswers>(service: S, args: object): Promise<ScheduleAnswers[S]> {
  return ask(service, bare(args)) as Promise<ScheduleAnswers[S]>;
}

function jsonOf(data: unknown): string {
  const text = stringify(data ?? null) as string | undefined;
  if (text === undefined) throw new NativeTypeError(`a ${typeof data} is not data`);
  return text;
}

interface Options {
  id?: string;
  timezone?: string;
}

async function delay(name: string, ms: number, data?: unknown, options?: Options): Promise<string> {
  checkHandler(name);
  return put("schedule.delay", { name, ms, data: jsonOf(data), id: options?.id });
}

async function cron(name: string, pattern: string, data?: unknown, options?: Options): Promise<string> {
  checkHandler(name);
  return put("schedule.cron", { name, pattern, data: jsonOf(data), id: options?.id, timezone: options?.timezone });
}

async function list(): Promise<unknown[]> {
  const jobs = await put("schedule.list", {});
  const listed: unknown[] = [];
  for (let i = 0; i < jobs.length; i++) {
    const job = jobs[i]!;
    listed[i] = { ...job, dueAt: new NativeDate(job.dueAt) };
  }
  return listed;
}

export const schedule = { on, delay, cron, cancel: (id: string) => put("schedule.cancel", { id }), list };

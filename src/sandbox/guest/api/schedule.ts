/**
 * Inside the isolate: `api.schedule`. The host calls a job's handler by its name, so that jobs find it again after a
 * restart.
 */
import type { JobContext, ScheduleResponses } from "../../../protocol/messages/schedule.ts";
import { settled } from "../turn/abortable.ts";
import { requestHost } from "../turn/requests.ts";
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
} from "../boot/primordials.ts";

const names = new NativeMap<string, boolean>();

function on(name: unknown, handler: unknown, options?: unknown): void {
  if (typeof name !== "string" || name === "") throw new NativeError("api.schedule.on needs a name");
  if (typeof handler !== "function") throw new NativeError(`api.schedule.on("${name}") needs a handler function`);
  const run = (args: unknown[], context: Record<string, unknown>): unknown => {
    const { id, dueAt, occurrence, attempt = 1 } = context as unknown as JobContext;
    const job = { id, name, dueAt: new NativeDate(dueAt), occurrence, attempt };
    const value = call(handler as () => unknown, undefined, [parse(args[0] as string), job]);
    // The host ignores what it returns, so it need not be data.
    return isThenable(value) ? settled(value, () => undefined) : undefined;
  };
  declareFunction("job", name, bare({}), run, options);
  mapSet(names, name, true);
}

/** While it registers, the plugin may still declare the handler later. */
function checkHandler(name: string): void {
  if (!isRegistering() && mapGet(names, name) === undefined)
    throw new NativeError(`there is no handler of that name: register needs api.schedule.on("${name}", …)`);
}

function put<S extends keyof ScheduleResponses>(service: S, args: object): Promise<ScheduleResponses[S]> {
  return requestHost(service, bare(args)) as Promise<ScheduleResponses[S]>;
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

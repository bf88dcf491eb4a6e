/** The worker of the naive way: one isolate, entered with isolated-vm's asynchronous `apply`. */
import { workerData } from "piscina";
import { asyncIsolateWith } from "../floors/isolate.ts";

export interface NaiveTask {
  readonly event: object;
  readonly context: object;
}

const { handler } = workerData as { handler: string };
const apply = asyncIsolateWith(handler);

export default async function run({ event, context }: NaiveTask): Promise<unknown> {
  const text = await apply(JSON.stringify(event), JSON.stringify(context));
  return text === undefined ? undefined : JSON.parse(text);
}

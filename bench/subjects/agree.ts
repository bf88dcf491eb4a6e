/** A contestant that gives other answers than the handler would is fast for nothing: each is asked for every event of the work before it may take part. */
import { isDeepStrictEqual } from "node:util";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import type { Work } from "../handlers.ts";
import { plain } from "./plain.ts";

export async function agreeing(work: Work, one: Contestant): Promise<Contestant> {
  const handler = plain(work.handler);
  for (const [at, event] of work.events.entries()) {
    const expected = await handler(structuredClone(event), work.context);
    const answer = answerOf(await one.call(at));
    if (covers(answer, expected)) continue;
    await one[Symbol.asyncDispose]();
    throw new Error(`${one.name} answers ${JSON.stringify(answer)} and not ${JSON.stringify(expected)} to ${JSON.stringify(event)}`);
  }
  return one;
}

/** Creel gives an outcome with the answer in it. */
function answerOf(given: unknown): unknown {
  return isObject(given) && "runId" in given && "calls" in given ? given["result"] : given;
}

/** A runner that merges may say more: fields that are undefined, parameters that nobody changed. */
function covers(answer: unknown, expected: unknown): boolean {
  if (!isObject(expected) || !isObject(answer)) return isDeepStrictEqual(answer, expected);
  return Object.entries(expected).every(([key, value]) => covers(answer[key], value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

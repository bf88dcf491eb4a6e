/** Calls a tool that a gate forbids, again and again, while a test changes something. */
import { setTimeout as sleep } from "node:timers/promises";
import { LONG } from "./gateway.ts";
import type { Gateway } from "./gateway.ts";

const PAUSE_MS = 20;
/** What the guard of native-plugins.ts says. */
export const NO = "guard says no to forbidden";
/** What OpenClaw says when a gate throws. */
const SHUT = "before_tool_call hook failed";

interface Seen {
  /** Refused by the plugin itself. */
  refused: number;
  /** Refused because the gate could not be asked. */
  shut: number;
  /** What else the gateway answered, such as that it has no such tool while it loads plugins. */
  readonly other: string[];
  readonly passed: unknown[];
}

/**
 * Resolves when the work is done and the call was then refused once more, by the plugin itself or, with `end: "shut"`, by its closed gate;
 * also as soon as a call passed. A gateway that does not answer lets nothing pass; neither does one that has no such tool, because the plugin
 * whose tool it is cannot be asked.
 */
export async function whileForbidden(gateway: Gateway, work: () => Promise<unknown>, end: "refused" | "shut" = "refused"): Promise<Seen> {
  const over = new AbortController();
  const seen: Seen = { refused: 0, shut: 0, other: [], passed: [] };
  const watching = (async () => {
    while (!over.signal.aborted) {
      await ask(gateway, seen);
      await sleep(PAUSE_MS);
    }
  })();
  try {
    await Promise.race([work(), watching]);
  } finally {
    over.abort();
    await watching;
  }
  const closed = (): number => (end === "refused" ? seen.refused : seen.shut + seen.other.length);
  const before = closed();
  const endMs = Date.now() + LONG;
  while (closed() === before && seen.passed.length === 0) {
    if (Date.now() > endMs) throw new Error(`the call was not ${end}: ${seen.other.at(-1) ?? "there was no answer"}`);
    await ask(gateway, seen);
    await sleep(PAUSE_MS);
  }
  return seen;
}

async function ask(gateway: Gateway, seen: Seen): Promise<void> {
  let answer: Awaited<ReturnType<Gateway["invoke"]>>;
  try {
    answer = await gateway.invoke("lobster_weight", { name: "forbidden" });
  } catch (error) {
    // `fetch` says so when there is no connection, or it breaks.
    if (error instanceof TypeError) return;
    throw error;
  }
  const said = answer.error?.message ?? "";
  if (answer.ok) seen.passed.push(answer);
  else if (said === NO) seen.refused += 1;
  else if (said.includes(SHUT)) seen.shut += 1;
  else seen.other.push(said);
}

/** Calls a tool that a gate forbids, again and again, while a test changes something. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Gateway } from "./gateway.ts";

const PAUSE_MS = 20;

/** Resolves with the number of refusals and with every call that passed. A gateway that does not answer lets nothing pass. */
export async function whileForbidden(gateway: Gateway, work: () => Promise<unknown>): Promise<{ refused: number; passed: unknown[] }> {
  const over = new AbortController();
  const seen = { refused: 0, passed: [] as unknown[] };
  const watching = (async () => {
    while (!over.signal.aborted) {
      const answer = await gateway.invoke("lobster_weight", { name: "forbidden" }).catch(() => undefined);
      if (answer?.ok === true) seen.passed.push(answer);
      else if (answer) seen.refused += 1;
      await sleep(PAUSE_MS);
    }
  })();
  try {
    await work();
  } finally {
    over.abort();
    await watching;
  }
  return seen;
}

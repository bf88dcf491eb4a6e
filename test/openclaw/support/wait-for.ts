import { setTimeout as sleep } from "node:timers/promises";

/** Asks again and again until there is a value. */
export async function waitFor<T>(probe: () => T | undefined | Promise<T | undefined>, timeoutMs: number, what = "the value"): Promise<T> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > endMs) throw new Error(`${what} did not come in ${timeoutMs} ms`);
    await sleep(50);
  }
}

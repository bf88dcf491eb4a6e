import { setImmediate as turn } from "node:timers/promises";

/** Does something again and again until the promise has settled. */
export async function until(settled: Promise<unknown>, work: () => Promise<unknown>): Promise<void> {
  const state = { isOver: false };
  const over = settled.finally(() => {
    state.isOver = true;
  });
  // A run that calls no handler settles without the event loop turning.
  while (!state.isOver) {
    await work();
    await turn();
  }
  await over;
}

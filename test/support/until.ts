/** Does something again and again until the promise has settled. */
export async function until(settled: Promise<unknown>, work: () => Promise<unknown>): Promise<void> {
  const state = { isOver: false };
  const over = settled.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) await work();
  await over;
}

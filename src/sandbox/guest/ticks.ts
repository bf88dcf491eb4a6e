/** Inside the isolate: what `process.nextTick` has put off (node/ticks.ts). It comes when a turn's own code has returned, before its promises. */
export const ticks: { drain: (() => void) | undefined } = { drain: undefined };

/** Makes isolates with a context, keeps them all, and tells how many milliseconds it took; then lets go of them, so that the thread can end. */
import { parentPort, workerData } from "node:worker_threads";
import ivm from "isolated-vm";
import { LIMITS } from "../../src/protocol/limits.ts";

const started = performance.now();
const isolates = Array.from({ length: workerData as number }, () => {
  const isolate = new ivm.Isolate({ memoryLimit: LIMITS.call.heapMb });
  isolate.createContextSync();
  return isolate;
});
const took = performance.now() - started;
for (const isolate of isolates) isolate.dispose();
parentPort!.postMessage(took);

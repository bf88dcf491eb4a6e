/**
 * Untrusted side: shows that a sandbox process can live behind the walls it was started in. Loads what the process and its lanes
 * load, isolated-vm included, in a thread as they do, and says so. Run by host/lanes/machine.ts, once per gateway.
 */
import { isMainThread, parentPort, Worker } from "node:worker_threads";

if (isMainThread) {
  await import("./pool.ts");
  // What the thread throws, this one throws.
  const thread = new Worker(new URL(import.meta.url), { env: {} });
  // It is killed by whoever reads this.
  thread.on("message", () => process.stdout.write("ok"));
} else {
  await import("./main.ts");
  parentPort!.on("message", () => {}).postMessage("ok");
}

/**
 * Untrusted side: tests that a sandbox process can run behind the walls it was started in. It loads the modules of the
 * process and of a lane, isolated-vm included, each in the thread that needs them, and prints `ok`.
 * host/supervisor/launch/probe.ts runs it once per gateway.
 */
import { isMainThread, parentPort, Worker } from "node:worker_threads";

if (isMainThread) {
  await import("./pool.ts");
  // An error in the thread is thrown here, too: a Worker without an `error` listener does that.
  const thread = new Worker(new URL(import.meta.url), { env: {} });
  // The probe kills this process when it has read the line.
  thread.on("message", () => process.stdout.write("ok"));
} else {
  await import("../lane/thread.ts");
  parentPort!.on("message", () => {}).postMessage("ok");
}

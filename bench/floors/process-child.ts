/** The child of the process floor: starts the one worker thread, and leaves with its parent. */
import { Worker } from "node:worker_threads";
import type { ProcessOptions } from "./process-worker.ts";

process.once("message", (options: ProcessOptions) => {
  const worker = new Worker(new URL("./process-worker.ts", import.meta.url), { workerData: options });
  worker.once("message", () => process.send!("ready"));
});
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));

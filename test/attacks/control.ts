/**
 * The control process: it looks at the clock, computes for a tenth of the time (the kernel lets a process wait longer that uses the CPU), hands a thread
 * something to answer twenty times a second and blocks until that has answered, as a gateway does in a synchronous run, and tells on request for how long its
 * loop stood still. Forked by control-process.ts.
 */
import { Worker } from "node:worker_threads";
import { StallMeter } from "./stalls.ts";

/** As often as synchronous runs are made beside an attack. */
const HOP_MS = 50;
const MOST_MS = 2_000;
const WORK_EVERY_MS = 10;
const WORK_MS = 1;

const ANSWERER = `
  const { workerData } = require("node:worker_threads");
  for (let seen = 0; ; seen++) {
    Atomics.wait(workerData, 0, seen);
    Atomics.add(workerData, 1, 1);
    Atomics.notify(workerData, 1);
  }`;

const cells = new Int32Array(new SharedArrayBuffer(8));
const worker = new Worker(ANSWERER, { eval: true, workerData: cells });
worker.unref();
const meter = new StallMeter();
let hops = 0;
setInterval(work, WORK_EVERY_MS);
worker.once("online", () => setInterval(hop, HOP_MS));
process.on("message", () => void process.send!(meter.take()));
process.once("disconnect", () => process.exit());

function work(): void {
  const endMs = performance.now() + WORK_MS;
  while (performance.now() < endMs);
}

function hop(): void {
  const asked = hops++;
  Atomics.add(cells, 0, 1);
  Atomics.notify(cells, 0);
  Atomics.wait(cells, 1, asked, MOST_MS);
}

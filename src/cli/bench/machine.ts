/** Where the numbers come from. A number without its machine is a rumour. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly os: string;
  readonly node: string;
  readonly v8: string;
  readonly isolatedVm: string;
  /** One-minute load average when the run began. Above the number of cores, other processes disturb the measurement. */
  readonly load: number;
}

export function machine(): Machine {
  const isolatedVm = createRequire(import.meta.url).resolve("isolated-vm/package.json");
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${process.platform} ${process.arch} ${release()}`,
    node: process.versions.node,
    v8: process.versions.v8,
    isolatedVm: (JSON.parse(readFileSync(isolatedVm, "utf8")) as { version: string }).version,
    load: Math.round(loadavg()[0]! * 100) / 100,
  };
}

export function machineLine({ cpu, cores, memoryGb, os, node, v8, isolatedVm, load }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGb} GB, ${os}; Node ${node}, V8 ${v8}, isolated-vm ${isolatedVm}; load ${load} at the start`;
}

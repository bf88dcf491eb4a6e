/** Walls for tests: this machine with a sandbox that may read one file more, and all processes behind a wrapper. */
import { capabilities } from "../../src/host/supervisor/launch/probe.ts";
import { sandboxFiles } from "../../src/host/supervisor/launch/sandbox-files.ts";
import type { Capabilities } from "../../src/host/supervisor/launch/plan.ts";
import { childrenOf } from "./process.ts";

export function machineWith(...more: string[]): Capabilities {
  return { ...capabilities(), files: sandboxFiles(more) };
}

/** A process and all below it. */
export function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

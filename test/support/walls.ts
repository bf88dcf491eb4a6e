/** Walls for tests: this machine with a sandbox that may read one file more, and all processes behind a fence. */
import { machine } from "../../src/host/lanes/machine.ts";
import { sandboxFiles } from "../../src/host/lanes/sandbox-files.ts";
import type { Machine } from "../../src/host/lanes/walls.ts";
import { childrenOf } from "./process.ts";

export function machineWith(...more: string[]): Machine {
  return { ...machine(), files: sandboxFiles(more) };
}

/** A process and all below it. */
export function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

/** What Linux says about a process: its memory, its processor time, its threads, its descriptors. A process that is gone has none. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { childrenOf } from "../support/process.ts";

/** The kernel counts in ticks of 10 ms, on every Linux that Node runs on. */
const TICK_MS = 10;

export function rssMb(pid: number | "self"): number {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return kb === undefined ? 0 : Number(kb) / 1024;
}

/** User and system time since it started. */
export function cpuMs(pid: number | "self"): number {
  const stat = read(`/proc/${pid}/stat`);
  // The name may hold blanks and brackets; the fields behind it are numbers. utime and stime are the 14th and 15th of all.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

export const threads = (pid: number | "self"): number => entries(`/proc/${pid}/task`);
export const commandLine = (pid: number): string => read(`/proc/${pid}/cmdline`);
export const descriptors = (pid: number | "self"): number => entries(`/proc/${pid}/fd`);

/** The files below a folder that a process has open, one entry per descriptor. */
export function openFiles(pid: number | "self", folder: string): string[] {
  const found = readdirSync(`/proc/${pid}/fd`).map((one) => targetOf(`/proc/${pid}/fd/${one}`));
  return found.filter((file) => file.startsWith(`${folder}/`));
}

/** A process and all that come from it: walls around a sandbox are processes, too, and the sandbox itself is the last. */
export function familyOf(pid: number): number[] {
  try {
    return [pid, ...childrenOf(pid).flatMap(familyOf)];
  } catch {
    return [pid];
  }
}

/** The sum over a process and all that come from it. */
export function ofFamily(pid: number, ask: (one: number) => number): number {
  return familyOf(pid).reduce((sum, one) => sum + ask(one), 0);
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}

function entries(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

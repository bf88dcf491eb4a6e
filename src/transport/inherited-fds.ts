/**
 * Both sides: what a sandbox process has of the outside. These are the file descriptors it inherits, beside stdio, and
 * the kernel's files about itself that it may read. The host, which starts the process, and the process agree on them
 * here.
 */
import type { LaneShmFds } from "./shm-channel.ts";

export const CONTROL_FD = 3;
/** A lane has two links: one for all messages, and one for runs that the host blocks on. */
export const laneFd = (lane: number): number => CONTROL_FD + 1 + 2 * lane;
export const syncFd = (lane: number): number => laneFd(lane) + 1;
/** How many there are, for so many lanes. */
export const inheritedCount = (lanes: number): number => 1 + 2 * lanes;
/**
 * The files of a lane's shared-memory channel, behind all of those: two of the host's, and two of the lane's own.
 * `HAS_SHM` tells the process that it has them.
 */
export const shmFds = (lane: number, lanes: number): LaneShmFds => {
  const first = CONTROL_FD + inheritedCount(lanes) + 4 * lane;
  return { readers: [first, first + 1], writers: [first + 2, first + 3] };
};
/** The second argument of the sandbox process. */
export const HAS_SHM = "shm";

/** State and CPU time of the calling thread, and those of all threads of the process. */
export const OWN_STAT = "/proc/thread-self/stat";
export const OWN_SCHEDSTAT = "/proc/thread-self/schedstat";
/** The system call that the calling thread is in. */
export const OWN_SYSCALL = "/proc/thread-self/syscall";
export const TASKS = "/proc/self/task";
/** Among others, how many threads are runnable. */
export const LOAD = "/proc/loadavg";

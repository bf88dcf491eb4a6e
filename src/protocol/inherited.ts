/**
 * What a sandbox process has of the outside: the file descriptors it inherits, beside stdio, and what it may read of the kernel's
 * files about itself. The host, which starts it, and the child agree on it here.
 */
import type { LaneFiles } from "./letter-box.ts";

export const CONTROL_FD = 3;
/** A lane has two links: one for all it is told and asked, and one for runs that the host blocks on. */
export const laneFd = (lane: number): number => CONTROL_FD + 1 + 2 * lane;
export const syncFd = (lane: number): number => laneFd(lane) + 1;
/** How many there are, for so many lanes. */
export const inheritedCount = (lanes: number): number => 1 + 2 * lanes;
/** The files of a lane's letters, behind all of those, if there are any: two of the host's, and two of the lane's own. Then the process is told so by a second argument. */
export const lettersFds = (lane: number, lanes: number): LaneFiles => {
  const first = CONTROL_FD + inheritedCount(lanes) + 4 * lane;
  return { readers: [first, first + 1], writers: [first + 2, first + 3] };
};
export const HAS_LETTERS = "letters";

/** The state and the CPU time of the calling thread, and those of all threads of the process. */
export const OWN_STAT = "/proc/thread-self/stat";
export const OWN_SCHEDSTAT = "/proc/thread-self/schedstat";
export const TASKS = "/proc/self/task";
/** How busy the machine is, in three words. */
export const LOAD = "/proc/loadavg";

/**
 * Untrusted side: entry of the sandbox process. It inherits one control pipe and two sockets per lane, and starts the
 * lanes. Its main thread runs no plugin code. It exits when the host is gone, without asking the lanes; it detects
 * stalled turns; and it answers the host's pings, so that the host detects a process that is frozen as a whole.
 */
import "./no-eval.ts";
import { pack, unpack } from "../../transport/frames.ts";
import { LANE_STATUS_BYTES } from "../../transport/lane-status.ts";
import { CONTROL_FD, HAS_SHM, laneFd, shmFds, syncFd } from "../../transport/inherited-fds.ts";
import { socketLink } from "../../transport/socket-link.ts";
import type { ControlMessage, UnitMessage } from "../../protocol/messages/host-lane.ts";
import { startPool } from "./pool.ts";
import { startStallDetector } from "./stall-detector.ts";

const lanes = Number(process.argv[2]);
const hasShm = process.argv[3] === HAS_SHM;
const endpoints = Array.from({ length: lanes }, (_, lane) => ({
  fd: laneFd(lane),
  syncFd: syncFd(lane),
  shm: hasShm ? shmFds(lane, lanes) : undefined,
  laneStatus: new SharedArrayBuffer(LANE_STATUS_BYTES),
}));
// First: the threads start beside everything below.
const pool = startPool(endpoints);

const { Socket } = process.getBuiltinModule("node:net");
const control = socketLink(new Socket({ fd: CONTROL_FD, readable: true, writable: true }));
const notify = (message: UnitMessage): void => control.send([pack(message)]);

/** Not `process.exit`: a thread that is stuck inside V8 can make it hang for ever. */
function leave(): void {
  process.kill(process.pid, "SIGKILL");
}

// The host closes its end when it is done with this process, and the kernel closes it when the host dies.
control.onEnd(leave);
control.onFrames((frames) => {
  for (const frame of frames) {
    const { kind } = unpack(frame).header as ControlMessage;
    if (kind === "tight") stalls.tighten();
    else notify({ kind: "beat" });
  }
});
const stalls = startStallDetector(
  endpoints.map(({ laneStatus }) => laneStatus),
  notify,
  { isSteady: true },
);
void pool.ended.then((why) => {
  notify({ kind: "ended", why });
  setImmediate(leave);
});

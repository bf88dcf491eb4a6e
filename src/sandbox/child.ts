/**
 * Untrusted side: the sandbox process. It inherits one control pipe and two sockets per lane, and starts the lanes. Its main
 * thread runs no plugin code: it notices when the host is gone, and then leaves without asking the lanes; it looks at the lanes
 * from outside; and it answers the host's pings, so that a process that is frozen as a whole is found out.
 */
import "./no-eval.ts";
import { Socket } from "node:net";
import { pack } from "../protocol/frame.ts";
import { GAUGE_BYTES } from "../protocol/gauge.ts";
import { CONTROL_FD, HAS_LETTERS, laneFd, lettersFds, syncFd } from "../protocol/inherited.ts";
import { socketLink } from "../protocol/socket-link.ts";
import type { UnitMessage } from "../protocol/messages.ts";
import { startPool } from "./pool.ts";
import { watchGauges } from "./watcher.ts";

const control = socketLink(new Socket({ fd: CONTROL_FD, readable: true, writable: true }));
const say = (message: UnitMessage): void => control.send([pack(message)]);

/** A thread inside V8 can make an ordinary exit hang for ever. */
function leave(): void {
  process.kill(process.pid, "SIGKILL");
}

// The host's end closes when it says so, and when it is killed: either way nobody needs this process.
control.onEnd(leave);
// Whatever it says is a ping.
control.onFrames(() => say({ kind: "beat" }));

const lanes = Number(process.argv[2]);
const hasLetters = process.argv[3] === HAS_LETTERS;
const endpoints = Array.from({ length: lanes }, (_, lane) => ({
  fd: laneFd(lane),
  syncFd: syncFd(lane),
  letters: hasLetters ? lettersFds(lane, lanes) : undefined,
  gauge: new SharedArrayBuffer(GAUGE_BYTES),
}));
const pool = startPool(endpoints);
watchGauges(
  endpoints.map(({ gauge }) => gauge),
  say,
);
void pool.ended.then((why) => {
  say({ kind: "ended", why });
  setImmediate(leave);
});

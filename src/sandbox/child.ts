/**
 * Untrusted side: the sandbox process. It inherits one control pipe and one socket per lane, and starts the lanes. Its main
 * thread runs no plugin code, so that it always notices when the host is gone, and then leaves without asking the lanes.
 */
import { Socket } from "node:net";
import { CONTROL_FD, laneFd } from "../protocol/inherited.ts";
import { startPool } from "./pool.ts";

const lanes = Number(process.argv[2]);
const control = new Socket({ fd: CONTROL_FD, readable: true, writable: true });

/** A thread inside V8 can make an ordinary exit hang for ever. */
function leave(): void {
  process.kill(process.pid, "SIGKILL");
}

// The host's end closes when it says so, and when it is killed: either way nobody needs this process.
control.on("error", leave);
control.on("close", leave);
control.resume();

const pool = startPool(Array.from({ length: lanes }, (_, lane) => ({ fd: laneFd(lane) })));
void pool.ended.then((why) => control.write(why, leave));

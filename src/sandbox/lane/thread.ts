/** Untrusted side: entry of a lane's thread. The default export is the one long-running task that Piscina gives it. */
import "../process/no-eval.ts";
import { receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { collectGarbage } from "./cell/garbage.ts";
import { Lane } from "./lane.ts";
import { LaneStatus } from "../../transport/lane-status.ts";
import type { Frame } from "../../transport/frames.ts";
import { ShmChannel, shmFiles } from "../../transport/shm-channel.ts";
import type { LaneShmFds } from "../../transport/shm-channel.ts";
import { portLink } from "../../transport/link.ts";
import { socketLink } from "../../transport/socket-link.ts";
import type { Link } from "../../transport/link.ts";
import { ownThread } from "../process/thread-clock.ts";

// Not imported: an import evaluates every export, and `fs` alone loads ten more modules for that. This, and loading
// `crypto` on first use, lets a thread start in 31 instead of 38 ms.
const { ftruncateSync, readFileSync, readSync, writeSync } = process.getBuiltinModule("node:fs");

/** How the lane reaches the host: ports inside the gateway's process, or sockets that this process inherited. */
export type Endpoint = { laneStatus: SharedArrayBuffer } & (
  | { port: MessagePort; signals: Int32Array; syncPort: MessagePort; notify: Int32Array }
  | { fd: number; syncFd: number; shm: LaneShmFds | undefined }
);

export default function serve(endpoint: Endpoint): Promise<void> {
  const { main, sync } = linksOf(endpoint);
  const lane = new Lane(main, sync, new LaneStatus(endpoint.laneStatus, ownThread()), ownGuest);
  return new Promise((resolve) => {
    main.onEnd(() => {
      void lane[Symbol.asyncDispose]().then(() => {
        sync.close();
        if ("port" in endpoint) collectGarbage();
        resolve();
      });
    });
  });
}

/** The package has the guest's script beside this file. From sources the host builds it, and sends it. */
function ownGuest(): string {
  return import.meta.url.endsWith(".js") ? readFileSync(new URL("../guest.bundle.js", import.meta.url), "utf8") : "";
}

function linksOf(endpoint: Endpoint): { main: Link<Frame>; sync: Link<Frame> } {
  if (!("port" in endpoint)) return { main: inherited(endpoint.fd, endpoint.shm), sync: inherited(endpoint.syncFd) };
  const { port, signals, syncPort, notify } = endpoint;
  return {
    main: portLink(port, { signals: { memory: signals, mine: 1, receive: receiveMessageOnPort } }),
    sync: portLink(syncPort, { notify }),
  };
}

function inherited(fd: number, shm?: LaneShmFds): Link {
  const { Socket } = process.getBuiltinModule("node:net");
  const channel = shm && new ShmChannel(shmFiles(shm.writers, shm.readers, { ftruncateSync, readSync, writeSync }));
  return socketLink(new Socket({ fd, readable: true, writable: true }), {
    writeNow: writeSync,
    shm: channel && { channel, pollMode: "continuous" },
  });
}

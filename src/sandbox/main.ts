/** Untrusted side: a lane's thread. The default export is the one long-running task that Piscina gives it. */
import "./no-eval.ts";
import { receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { collectGarbage } from "./garbage.ts";
import { Lane } from "./lane.ts";
import { Gauge } from "../protocol/gauge.ts";
import type { Frame } from "../protocol/frame.ts";
import { LetterBox, letterFiles } from "../protocol/letter-box.ts";
import type { LaneFiles } from "../protocol/letter-box.ts";
import { portLink } from "../protocol/link.ts";
import { socketLink } from "../protocol/socket-link.ts";
import type { Link } from "../protocol/link.ts";
import { ownThread } from "./thread-clock.ts";

// Not imported: that reads every export, and `fs` alone loads ten more modules to have them. With `crypto` when it is first needed, a thread starts in 31 instead of 38 ms.
const { ftruncateSync, readSync, writeSync } = process.getBuiltinModule("node:fs");

/** Where the lane hears the host: ports in the gateway's own process, or sockets that this process inherited. */
export type Endpoint = { gauge: SharedArrayBuffer } & (
  | { port: MessagePort; bells: Int32Array; syncPort: MessagePort; notify: Int32Array }
  | { fd: number; syncFd: number; letters: LaneFiles | undefined }
);

export default function serve(endpoint: Endpoint): Promise<void> {
  const { main, sync } = linksOf(endpoint);
  const lane = new Lane(main, sync, new Gauge(endpoint.gauge, ownThread()));
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

function linksOf(endpoint: Endpoint): { main: Link<Frame>; sync: Link<Frame> } {
  if (!("port" in endpoint)) return { main: inherited(endpoint.fd, endpoint.letters), sync: inherited(endpoint.syncFd) };
  const { port, bells, syncPort, notify } = endpoint;
  return {
    main: portLink(port, { bells: { memory: bells, mine: 1, receive: receiveMessageOnPort } }),
    sync: portLink(syncPort, { notify }),
  };
}

function inherited(fd: number, letters?: LaneFiles): Link {
  const { Socket } = process.getBuiltinModule("node:net");
  const box = letters && new LetterBox(letterFiles(letters.writers, letters.readers, { ftruncateSync, readSync, writeSync }));
  return socketLink(new Socket({ fd, readable: true, writable: true }), {
    writeNow: writeSync,
    letters: box && { box, looking: "always" },
  });
}

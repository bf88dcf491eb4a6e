/** Untrusted side: a lane's thread. The default export is the one long-running task that Piscina gives it. */
import "./no-eval.ts";
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import type { MessagePort } from "node:worker_threads";
import { collectGarbage } from "./garbage.ts";
import { Lane } from "./lane.ts";
import { Gauge } from "../protocol/gauge.ts";
import { portLink, socketLink } from "../protocol/link.ts";
import type { Link } from "../protocol/link.ts";
import { ownThread } from "./thread-clock.ts";

/** Where the lane hears the host: ports in the gateway's own process, or sockets that this process inherited. */
export type Endpoint = { gauge: SharedArrayBuffer } & (
  | { port: MessagePort; syncPort: MessagePort; notify: Int32Array }
  | { fd: number; syncFd: number }
);

export default function serve(endpoint: Endpoint): Promise<void> {
  const { main, sync } = linksOf(endpoint);
  const lane = new Lane(main, sync, new Gauge(endpoint.gauge, ownThread()));
  return new Promise((resolve) => {
    main.onEnd(() => {
      lane.dispose();
      sync.close();
      if ("port" in endpoint) collectGarbage();
      resolve();
    });
  });
}

function linksOf(endpoint: Endpoint): { main: Link; sync: Link } {
  if ("port" in endpoint) return { main: portLink(endpoint.port), sync: portLink(endpoint.syncPort, endpoint.notify) };
  return { main: inherited(endpoint.fd), sync: inherited(endpoint.syncFd) };
}

function inherited(fd: number): Link {
  return socketLink(new Socket({ fd, readable: true, writable: true }), writeSync);
}

/** Untrusted side: a lane's thread. The default export is the one long-running task that Piscina gives it. */
import { Socket } from "node:net";
import type { MessagePort } from "node:worker_threads";
import { collectGarbage } from "./garbage.ts";
import { Lane } from "./lane.ts";
import { Gauge } from "../protocol/gauge.ts";
import { portLink, socketLink } from "../protocol/link.ts";
import { ownThread } from "./thread-clock.ts";

/** Where the lane hears the host: ports in the gateway's own process, or a socket that this process inherited. */
export type Endpoint = { gauge: SharedArrayBuffer } & ({ port: MessagePort; syncPort: MessagePort; notify: Int32Array } | { fd: number });

export default function serve(endpoint: Endpoint): Promise<void> {
  const link = "fd" in endpoint ? socketLink(new Socket({ fd: endpoint.fd, readable: true, writable: true })) : portLink(endpoint.port);
  const lane = new Lane(link, new Gauge(endpoint.gauge, ownThread()));
  if ("syncPort" in endpoint) lane.attach(portLink(endpoint.syncPort, endpoint.notify));
  return new Promise((resolve) => {
    link.onEnd(() => {
      lane.dispose();
      if ("syncPort" in endpoint) {
        endpoint.syncPort.close();
        collectGarbage();
      }
      resolve();
    });
  });
}

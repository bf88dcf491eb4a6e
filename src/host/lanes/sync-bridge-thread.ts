/** Trusted side, a thread of the gateway's process: see sync-bridge.ts. What comes from a lane is relayed unread; the host checks it. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { portLink, socketLink } from "../../protocol/link.ts";
import { GONE } from "./sync-line.ts";
import type { Expect, Listening } from "./sync-bridge.ts";

const servers = new Set<Server>();
/** The newest line per lane; an older one belongs to a process that is gone. */
const lines = new Map<number, () => void>();

parentPort!.on("message", (message: Expect | { kind: "close" }) => {
  if (message.kind === "expect") return expect(message);
  for (const server of servers) server.close();
  for (const end of lines.values()) end();
  parentPort!.close();
});

function expect({ lane, token, sync }: Expect): void {
  lines.get(lane)?.();
  // SECURITY: a folder that only this user can enter, a token that only the lane was told. test/contract/sync.test.ts
  const folder = process.platform === "win32" ? undefined : mkdtempSync(join(tmpdir(), "creel-"));
  const path = folder ? join(folder, "s") : `\\\\.\\pipe\\creel-${token}`;
  const server = createServer((socket) => {
    const link = socketLink(socket);
    let isKnown = false;
    const port = portLink(sync.port, sync.notify);
    link.onFrames((frames) => {
      if (isKnown) return port.send(frames);
      if (frames[0] !== token) return link.close();
      isKnown = true;
      // Closing unlinks the socket; nothing of it stays on disk while the line is in use.
      server.close();
      if (folder) rmSync(folder, { recursive: true, force: true });
      port.onFrames((outgoing) => link.send(outgoing));
      if (frames.length > 1) port.send(frames.slice(1));
    });
    link.onEnd(() => {
      if (!isKnown) return;
      sync.port.postMessage(GONE);
      Atomics.add(sync.notify, 0, 1);
      Atomics.notify(sync.notify, 0);
    });
    lines.set(lane, () => {
      link.close();
      sync.port.close();
    });
  });
  servers.add(server);
  // A lane that died before it came leaves no socket waiting for it.
  lines.set(lane, () => {
    server.close();
    sync.port.close();
  });
  server.on("close", () => {
    servers.delete(server);
    if (folder) rmSync(folder, { recursive: true, force: true });
  });
  server.listen(path, () => parentPort!.postMessage({ token, path } satisfies Listening));
}

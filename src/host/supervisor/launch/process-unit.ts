/**
 * Trusted side: starts a sandbox process and observes it. The child inherits a control pipe and two sockets per lane,
 * and nothing else of the gateway. No socket listens anywhere, and the pipes close when either side dies.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import type { Socket } from "node:net";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { CONTROL_FD, HAS_SHM, inheritedCount, laneFd, syncFd } from "../../../transport/inherited-fds.ts";
import { pack, unpack } from "../../../transport/frames.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { socketLink } from "../../../transport/socket-link.ts";
import { unitMessage } from "../../../protocol/messages/host-lane.ts";
import type { ControlMessage, UnitMessage } from "../../../protocol/messages/host-lane.ts";
import { openShmChannel } from "./shm-files.ts";
import { rssReader } from "../../../os/rss.ts";
import { brokenSockets, socketSync } from "../sync/sync-port.ts";
import type { LaneUnit, UnitEvents } from "../unit.ts";
import { spawnSandbox } from "./spawn.ts";
import type { WallsPlan } from "./plan.ts";

const PING = pack({ kind: "ping" } satisfies ControlMessage);
const TIGHT = pack({ kind: "tight" } satisfies ControlMessage);
const STDERR_CHARS = 2_000;
const ENTRY = fileURLToPath(
  new URL(`../../../sandbox/process/main${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url),
);

/** `entry`: the program and its first arguments. Tests start another one in place of the sandbox. */
export function startProcessUnit(lanes: number, walls: WallsPlan, entry: readonly string[] = [ENTRY]): LaneUnit {
  const pipes = Array.from({ length: inheritedCount(lanes) }, () => "pipe" as const);
  const opened = Array.from({ length: lanes }, openShmChannel);
  // All lanes have a channel, or none has.
  const shm = opened.every((one) => one !== undefined) ? opened : [];
  const { child, kill } = spawnSandbox(
    walls,
    [...entry, String(lanes), ...(shm.length > 0 ? [HAS_SHM] : [])],
    ["ignore", "ignore", "pipe", ...pipes, ...shm.flatMap(({ lane }) => [...lane.readers, ...lane.writers])],
  );
  const sockets = Array.from({ length: lanes }, (_, lane) => child.stdio[laneFd(lane)] as Socket);
  const syncSockets = Array.from({ length: lanes }, (_, lane) => child.stdio[syncFd(lane)] as Socket);
  const control = child.stdio[CONTROL_FD] as Socket;
  const controlLink = socketLink(control, { maxBytes: LIMITS.frames.controlBytes });
  let said = "";
  let saidBytes = 0;
  child
    .stderr!.on("data", (chunk: Buffer) => {
      said = `${said}${chunk.toString("utf8")}`.slice(-STDERR_CHARS);
      saidBytes += chunk.length;
      // A process that goes on writing has to wait.
      if (saidBytes > LIMITS.sandbox.stderrBytes) child.stderr!.pause();
    })
    .on("error", () => {});
  let events: UnitEvents | undefined;
  let messages = 0;
  controlLink.onFrames((frames) => {
    messages += frames.length;
    if (messages > LIMITS.frames.controlMessages) {
      control.destroy();
      return events?.protocolError("too many control messages");
    }
    for (const frame of frames) {
      const message = readMessage(frame, lanes);
      if (!message) events?.protocolError("an invalid control message");
      else if (message.kind === "ended") said = message.why;
      else if (message.kind === "stalled") events?.stalled(message);
      else if (message.kind === "grown") events?.grown(message);
      else events?.beat();
    }
  });

  const readRss = rssReader(child.pid, walls.wrappers);
  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  const ended = exited.then(
    async ([code, signal]) => {
      // Behind a wrapper Node ends a moment later, and its end of the pipe closes with it.
      if (walls.wrappers > 0 && !control.closed) await once(control, "close").catch(() => {});
      return [endOf(code, signal, walls), lastLine(said)].filter(Boolean).join(": ");
    },
    (error: Error) => `the sandbox process could not be started: ${error.message}`,
  );
  return {
    links: sockets.map((socket, lane) => {
      const channel = shm[lane]?.channel;
      return socketLink(socket, {
        writeNow: writeSync,
        maxBytes: LIMITS.frames.laneBytes,
        shm: channel && { channel, pollMode: "oneShot" },
      });
    }),
    syncPorts: syncSockets.map((socket) => socketSync(socket)),
    onLinkEnd: (listener) => {
      controlLink.onEnd(listener);
      for (const socket of syncSockets)
        socket.on("close", () => listener("a socket for synchronous runs was closed", brokenSockets.has(socket)));
    },
    ...(child.pid !== undefined && { pid: child.pid }),
    rssBytes: () => {
      // The watchdog calls this with every look.
      messages = 0;
      return readRss();
    },
    observe: (listener) => {
      events = listener;
    },
    said: () => said,
    ping: () => controlLink.send([PING]),
    tighten: () => controlLink.send([TIGHT]),
    setRef: (isHeld) => {
      for (const handle of [child, control, child.stderr as Socket, ...sockets, ...syncSockets])
        if (isHeld) handle.ref();
        else handle.unref();
    },
    ended,
    kill,
    close: async () => {
      kill();
      await ended;
      for (const stream of [control, child.stderr as Socket, ...sockets, ...syncSockets]) stream.destroy();
      for (const one of opened) one?.close();
    },
  };
}

// SECURITY: comes from the sandbox, so everything is checked. test/host/supervisor/launch/process-unit.test.ts
export function readMessage(frame: string, lanes: number): UnitMessage | undefined {
  try {
    const message = unitMessage.parse(unpack(frame).header);
    return "lane" in message && message.lane >= lanes ? undefined : message;
  } catch {
    return undefined;
  }
}

function endOf(code: number | null, signal: string | null, { wrappers }: WallsPlan): string {
  // The exit code of a wrapper tells which signal ended Node.
  const number = wrappers > 0 && code !== null && code > 128 ? code - 128 : 0;
  const name = signal ?? Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return name ? `the sandbox process was ended by ${name}` : `the sandbox process exited with ${code}`;
}

function lastLine(text: string): string {
  return (
    text
      .trim()
      .split("\n")
      .findLast((line) => /\S/.test(line))
      ?.slice(0, 300) ?? ""
  );
}

/**
 * Trusted side: starts a sandbox process and watches it. The child gets nothing of ours but a control pipe and two sockets
 * per lane, inherited as file descriptors: nothing listens anywhere, and the pipes close when either side dies.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import type { Socket } from "node:net";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { CONTROL_FD, HAS_LETTERS, inheritedCount, laneFd, syncFd } from "../../protocol/inherited.ts";
import { pack, unpack } from "../../protocol/frame.ts";
import { socketLink } from "../../protocol/socket-link.ts";
import { unitMessage } from "../../protocol/messages.ts";
import type { UnitMessage } from "../../protocol/messages.ts";
import { openLetters } from "./letter-files.ts";
import { residentMeter } from "./resident.ts";
import { socketSync } from "./sync-port.ts";
import type { LaneUnit, UnitWatcher } from "./unit.ts";
import { startWalled } from "./walled.ts";
import type { WallsPlan } from "./walls.ts";

const PING = pack({ kind: "ping" });
const ENTRY = fileURLToPath(new URL(`../../sandbox/child${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url));

export function startProcessUnit(lanes: number, walls: WallsPlan): LaneUnit {
  const pipes = Array.from({ length: inheritedCount(lanes) }, () => "pipe" as const);
  const opened = Array.from({ length: lanes }, openLetters);
  // For all lanes or for none.
  const letters = opened.every((one) => one !== undefined) ? opened : [];
  const { child, kill } = startWalled(
    walls,
    [ENTRY, String(lanes), ...(letters.length > 0 ? [HAS_LETTERS] : [])],
    ["ignore", "ignore", "pipe", ...pipes, ...letters.flatMap(({ lane }) => [...lane.readers, ...lane.writers])],
  );
  const sockets = Array.from({ length: lanes }, (_, lane) => child.stdio[laneFd(lane)] as Socket);
  const syncSockets = Array.from({ length: lanes }, (_, lane) => child.stdio[syncFd(lane)] as Socket);
  const control = child.stdio[CONTROL_FD] as Socket;
  const controlLink = socketLink(control);
  let said = "";
  child.stderr!.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString("utf8")}`.slice(-2_000))).on("error", () => {});
  let watcher: UnitWatcher | undefined;
  controlLink.onFrames((frames) => {
    for (const frame of frames) {
      const message = readMessage(frame, lanes);
      if (!message) watcher?.nonsense("a control message that is none");
      else if (message.kind === "ended") said = message.why;
      else if (message.kind === "held") watcher?.held(message);
      else watcher?.beat();
    }
  });

  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  const ended = exited.then(
    async ([code, signal]) => {
      // Behind a fence Node goes a moment later; when it is gone, so is its end of the pipe.
      if (walls.wrappers > 0 && !control.closed) await once(control, "close").catch(() => {});
      return [endOf(code, signal, walls), lastLine(said)].filter(Boolean).join(": ");
    },
    (error: Error) => `the sandbox process could not be started: ${error.message}`,
  );
  return {
    links: sockets.map((socket, lane) => {
      const box = letters[lane]?.box;
      return socketLink(socket, { writeNow: writeSync, letters: box && { box, looking: "once" } });
    }),
    syncPorts: syncSockets.map((socket) => socketSync(socket)),
    ...(child.pid !== undefined && { pid: child.pid }),
    residentBytes: residentMeter(child.pid, walls.wrappers),
    watch: (listener) => {
      watcher = listener;
    },
    ping: () => controlLink.send([PING]),
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

// SECURITY: comes from the sandbox, so it is checked before it is believed. test/host/process-unit.test.ts
export function readMessage(frame: string, lanes: number): UnitMessage | undefined {
  try {
    const message = unitMessage.parse(unpack(frame).header);
    return message.kind === "held" && message.lane >= lanes ? undefined : message;
  } catch {
    return undefined;
  }
}

function endOf(code: number | null, signal: string | null, { wrappers }: WallsPlan): string {
  // A fence says by its exit code which signal ended Node.
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

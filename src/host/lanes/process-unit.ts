/**
 * Trusted side: starts a sandbox process and watches it. The child gets nothing of ours but a control pipe and one socket
 * per lane, inherited as file descriptors: nothing listens anywhere, and the pipes close when either side dies.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { CONTROL_FD, laneFd } from "../../protocol/inherited.ts";
import { pack, unpack } from "../../protocol/frame.ts";
import { socketLink } from "../../protocol/link.ts";
import { unitMessage } from "../../protocol/messages.ts";
import type { UnitMessage } from "../../protocol/messages.ts";
import { residentMeter } from "./resident.ts";
import type { LaneUnit, UnitWatcher } from "./unit.ts";
import type { WallsPlan } from "./walls.ts";

const PING = pack({ kind: "ping" });
const ENTRY = fileURLToPath(new URL(`../../sandbox/child${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url));

export function startProcessUnit(lanes: number, walls: WallsPlan): LaneUnit {
  const child = spawn(walls.command, [...walls.args, ENTRY, String(lanes)], {
    env: walls.env,
    stdio: ["ignore", "ignore", "pipe", ...Array.from({ length: lanes + 1 }, () => "pipe" as const)],
  });
  const sockets = Array.from({ length: lanes }, (_, lane) => child.stdio[laneFd(lane)] as Socket);
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
    ([code, signal]) =>
      [signal ? `the sandbox process was ended by ${signal}` : `the sandbox process exited with ${code}`, lastLine(said)]
        .filter(Boolean)
        .join(": "),
    (error: Error) => `the sandbox process could not be started: ${error.message}`,
  );
  const kill = (): void => void child.kill("SIGKILL");
  return {
    links: sockets.map((socket) => socketLink(socket)),
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
      for (const stream of [control, child.stderr as Socket, ...sockets]) stream.destroy();
    },
  };
}

// SECURITY: comes from the sandbox, so it is checked before it is believed. test/host/process-unit.test.ts
function readMessage(frame: string, lanes: number): UnitMessage | undefined {
  try {
    const message = unitMessage.parse(unpack(frame).header);
    return message.kind === "held" && message.lane >= lanes ? undefined : message;
  } catch {
    return undefined;
  }
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

/**
 * Trusted side: starts a sandbox process and watches it. The child gets nothing of ours but a control pipe and one socket
 * per lane, inherited as file descriptors: nothing listens anywhere, and the pipes close when either side dies.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { CONTROL_FD, laneFd } from "../../protocol/inherited.ts";
import { socketLink } from "../../protocol/link.ts";
import { residentMeter } from "./resident.ts";
import type { LaneUnit } from "./unit.ts";
import type { WallsPlan } from "./walls.ts";

const ENTRY = fileURLToPath(new URL(`../../sandbox/child${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url));

export function startProcessUnit(lanes: number, walls: WallsPlan): LaneUnit {
  const child = spawn(walls.command, [...walls.args, ENTRY, String(lanes)], {
    env: walls.env,
    stdio: ["ignore", "ignore", "pipe", ...Array.from({ length: lanes + 1 }, () => "pipe" as const)],
  });
  const sockets = Array.from({ length: lanes }, (_, lane) => child.stdio[laneFd(lane)] as Socket);
  const control = child.stdio[CONTROL_FD] as Socket;
  let said = "";
  const keep = (chunk: Buffer): void => {
    said = `${said}${chunk.toString("utf8")}`.slice(-2_000);
  };
  control.on("data", keep).on("error", () => {});
  child.stderr!.on("data", keep).on("error", () => {});

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
    ended,
    kill,
    close: async () => {
      kill();
      await ended;
      for (const stream of [control, child.stderr as Socket, ...sockets]) stream.destroy();
    },
  };
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

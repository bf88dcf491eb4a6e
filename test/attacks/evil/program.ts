/**
 * A hostile program in the place of our sandbox process: what a plugin could do that has taken it over. It says that it is ready and that every plugin has loaded,
 * and then does what its first argument says, for as long as it lives.
 */
import { randomBytes, randomInt } from "node:crypto";
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { pack, unpack } from "../../../src/transport/frames.ts";
import { isCallFrame, readCallRequest, writeReply } from "../../../src/transport/call-frames.ts";
import { CONTROL_FD, laneFd, syncFd } from "../../../src/transport/inherited-fds.ts";
import { encodeFrames, FrameDecoder } from "../../../src/transport/socket-framing.ts";
import * as fc from "fast-check";
import { damaged } from "../../fuzz/mutations.ts";
import { laneFrames } from "../../fuzz/samples.ts";
import type { Mode } from "./modes.ts";

const mode = process.argv[2] as Mode;
const control = open(CONTROL_FD);
const lane = open(laneFd(0));
const sync = open(syncFd(0));
control.on("close", () => process.kill(process.pid, "SIGKILL"));
// As if it were well.
control.on("data", () => control.write(encodeFrames([pack({ kind: "beat" })])));

const decoder = new FrameDecoder(2 ** 30);
let cell = -1;
let isAtWork = false;
lane.on("data", (chunk: Buffer) => {
  for (const frame of decoder.push(chunk)) if (frame !== "") hear(frame);
});

function open(fd: number): Socket {
  return new Socket({ fd, readable: true, writable: true }).on("error", () => {});
}

/** Routes without a handler: whoever sends a run along one only wants to hear that it came. */
const empty = new Set<number>();

function hear(frame: string): void {
  if (isCallFrame(frame)) {
    const { id, route } = readCallRequest(frame);
    return empty.has(route) ? say(writeReply(id, true, [])) : run(id);
  }
  const message = unpack(frame).header as { kind: string; cell: number; version: number; route: number; steps: unknown[] };
  if (message.kind === "route" && message.steps.length === 0) empty.add(message.route);
  if (message.kind === "hello") say(pack({ kind: "ready", version: message.version }));
  if (message.kind !== "open") return;
  ({ cell } = message);
  say(opened());
}

function opened(): string {
  return pack({ kind: "opened", cell, ok: true, loadMs: 1 }, JSON.stringify({ handlers: [{ hook: "before_tool_call", options: {} }] }));
}

function say(...frames: string[]): void {
  lane.write(encodeFrames(frames));
}

function run(id: number): void {
  if (body !== undefined) return say(writeReply(id, true, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body }]));
  if (isAtWork) return;
  isAtWork = true;
  // When what it said before has surely been heard.
  setTimeout(() => ATTACKS[mode]?.(id), 50);
}

const keys = (count: number): string => {
  let text = `{"params":{"k":1`;
  for (let at = 0; at < count; at++) text += `,"${at.toString(36)}":1`;
  return `${text}}}`;
};

const ANSWERS: Partial<Record<Mode, () => string>> = {
  "a million keys": () => keys(1_000_000),
  "keys within the bytes": () => keys(100_000),
  "a deep result": () => `{"params":{"a":${"[".repeat(400_000)}${"]".repeat(400_000)}}}`,
  "a long result": () => `{"params":{"a":"${"\u20ac".repeat(2_000_000)}"}}`,
};

const body = ANSWERS[mode]?.();

/** The same frames again and again, as many as the other side takes. */
function flood(socket: Socket, frames: readonly string[]): void {
  const bytes = encodeFrames(frames);
  const more = (): void => {
    while (socket.write(bytes));
  };
  socket.on("drain", more);
  more();
}

const many = (frame: (at: number) => string): string[] => Array.from({ length: 500 }, (_, at) => frame(at));

/** A frame that never ends, a byte at a time. */
function dribble(fd: number, bytes: number): void {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(bytes);
  trickle(fd, head);
  const crumb = Buffer.from("x");
  const more = (): void => {
    for (let at = 0; at < 100; at++) trickle(fd, crumb);
    setImmediate(more);
  };
  more();
}

function trickle(fd: number, bytes: Buffer): void {
  try {
    writeSync(fd, bytes);
  } catch {
    // It takes none now, or never again.
  }
}

function garble(): void {
  const more = (): void => {
    const socket = [control, lane, sync][randomInt(3)]!;
    const bytes = randomBytes(randomInt(1, 4_096));
    // Half of it has a length that may be one, so that what is inside is looked at.
    if (randomInt(2) === 0 && bytes.length > 4) bytes.writeUInt32LE(bytes.length - 4);
    socket.write(bytes);
    setTimeout(more, 1);
  };
  more();
}

/** Real frames with a few changes each, whole on the wire: what the fuzzers of test/fuzz say. */
function damage(id: number): void {
  const real = laneFrames(id, cell).filter((frame) => !frame.includes('"ready"') && !frame.includes('"ok":false'));
  const frames = damaged(real, 2);
  const more = (): void => {
    say(...fc.sample(frames, 50));
    setTimeout(more, 1);
  };
  more();
}

const ATTACKS: Partial<Record<Mode, (id: number) => void>> = {
  "a flood of volumes": () =>
    flood(
      lane,
      many(() => pack({ kind: "volume", cell })),
    ),
  "a flood of questions": () =>
    flood(
      lane,
      many((at) => pack({ kind: "request", cell, request: at, run: 0 }, "session.get", `{"key":"${at}"}`)),
    ),
  "a flood of unread answers": () => {
    flood(
      lane,
      many((at) => pack({ kind: "request", cell, request: at, run: 0 }, "session.get", `{"key":"${at}"}`)),
    );
    lane.pause();
  },
  "a flood of log lines": () =>
    flood(
      lane,
      many((at) => pack({ kind: "log", cell, level: "info", run: 0 }, `line ${at}`)),
    ),
  "a flood of replies": (id) =>
    flood(
      lane,
      many((at) => writeReply(id + 1_000_000 + at, true, [])),
    ),
  "a flood of parts": (id) =>
    flood(
      lane,
      many(() => writeReply(id, false, [])),
    ),
  "a flood of rings": () =>
    flood(
      lane,
      many(() => ""),
    ),
  "a flood of loads": () =>
    flood(
      lane,
      many(() => opened()),
    ),
  "a flood of beats": () =>
    flood(
      control,
      many(() => pack({ kind: "beat" })),
    ),
  "a flood of late answers": () =>
    flood(
      sync,
      many((at) => writeReply(at, true, [])),
    ),
  "a flood of last words": () => {
    const more = (): void => void process.stderr.write("x".repeat(60_000), () => setImmediate(more));
    more();
  },
  "crumbs on the lane's link": () => dribble(laneFd(0), 10 * 2 ** 20),
  "crumbs on the caller's link": () => dribble(syncFd(0), 10 * 2 ** 20),
  "crumbs on the control link": () => dribble(CONTROL_FD, 10_000),
  "a frame that is too long": () => trickle(laneFd(0), Buffer.from([0xff, 0xff, 0xff, 0x7f])),
  "nothing is read": () => lane.pause(),
  "a link is closed": () => lane.destroy(),
  garbage: () => garble(),
  "garbage of the fuzzer": (id) => damage(id),
};

/** A fresh lane prewarms the cells of all plugins it is to load; nothing else about the lane changes. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { limitsOf, pluginBudget } from "../../../../src/host/plugins/budget.ts";
import { guestCode } from "../../../../src/bundler/guest-code.ts";
import { pack, unpack } from "../../../../src/transport/frames.ts";
import type { Frame } from "../../../../src/transport/frames.ts";
import { LaneStatus, LANE_STATUS_BYTES } from "../../../../src/transport/lane-status.ts";
import { isCallFrame, readReply, callFrame } from "../../../../src/transport/call-frames.ts";
import type { CallReply } from "../../../../src/transport/call-frames.ts";
import type { Link } from "../../../../src/transport/link.ts";
import type { HostMessage, Open } from "../../../../src/protocol/messages/host-lane.ts";
import type { Lane } from "../../../../src/sandbox/lane/lane.ts";
import { FACTS } from "../../../support/guest-facts.ts";

const LISTENS = "module.exports = (api) => { api.on('message_sending', () => ({ content: 'heard' })); };";

/** The other end of a lane's link. */
class Ends {
  readonly said: string[] = [];
  #hear: ((frames: readonly Frame[]) => void) | undefined;
  #heard: (() => void) | undefined;
  readonly link: Link<Frame> = {
    onFrames: (listener) => (this.#hear = listener),
    onEnd: () => {},
    send: (frames) => {
      this.said.push(...(frames as string[]).map((frame) => (isCallFrame(frame) ? replied(readReply(frame)) : summary(frame))));
      this.#heard?.();
    },
    close: () => {},
  };

  tell(...frames: Frame[]): void {
    this.#hear!(frames);
  }

  async until(what: string): Promise<void> {
    while (!this.said.includes(what)) await new Promise<void>((resolve) => (this.#heard = resolve));
  }
}

function replied({ id, steps }: CallReply): string {
  return `${id} is ${steps.map(({ status }) => status).join()}`;
}

function summary(frame: string): string {
  const { kind, cell, ok } = unpack(frame).header as { kind: string; cell?: number; ok?: boolean };
  return kind === "opened" ? `${ok ? "opened" : "failed"} ${cell}` : kind;
}

const hello = async (): Promise<string> => pack({ kind: "hello", version: 1, rules: {} } satisfies HostMessage, await guestCode());

function open(cell: number, code = LISTENS, heapMb?: number): string {
  const limits = limitsOf(pluginBudget(undefined, undefined));
  const message: Open = {
    kind: "open",
    cell,
    plugin: `p${cell}`,
    limits: { ...limits, heapMb: heapMb ?? limits.heapMb },
    hasFineClock: false,
    hasVolume: false,
    isPaused: false,
  };
  return pack(message, code, FACTS);
}

function route(number: number, cell: number): string {
  return pack({
    kind: "route",
    route: number,
    hook: "message_sending",
    mode: "chain",
    steps: [[cell, 0, 1_000, 100, 1_024]],
  } satisfies HostMessage);
}

function run(id: number, number: number, content = "x"): Frame {
  return callFrame(id, number, { cause: 1, from: 0, chains: false, spentMs: 0, event: JSON.stringify({ content }), context: "{}" });
}

/** As on a machine with so many CPUs, whatever this one has. */
async function withCpus(count: number): Promise<typeof Lane> {
  vi.resetModules();
  vi.doMock("node:os", () => ({ availableParallelism: () => count }));
  return (await import("../../../../src/sandbox/lane/lane.ts")).Lane;
}

let OnTwo: typeof Lane;
beforeAll(async () => {
  OnTwo = await withCpus(2);
});
afterAll(() => vi.doUnmock("node:os"));

const lanes: Lane[] = [];

async function fresh(Kind = OnTwo): Promise<Ends> {
  const ends = new Ends();
  lanes.push(new Kind(ends.link, new Ends().link, new LaneStatus(new SharedArrayBuffer(LANE_STATUS_BYTES), 0)));
  ends.tell(await hello());
  await ends.until("ready");
  ends.said.length = 0;
  return ends;
}

afterEach(async () => {
  for (const lane of lanes.splice(0)) await lane[Symbol.asyncDispose]();
});

it("plugins are loaded in the order in which they were sent, whatever their heap sizes, and items behind them are served after them", async () => {
  const ends = await fresh();
  ends.tell(open(1), open(2, LISTENS, 24), open(3, "throw new Error('x')"), open(4), route(1, 4), run(7, 1));
  ends.tell(open(5));
  // A long event comes in parts.
  ends.tell(route(2, 5), run(8, 2, "x".repeat(100_000)));
  await ends.until("8 is ok");
  expect(ends.said.filter((line) => line !== "log")).toEqual([
    "opened 1",
    "opened 2",
    "failed 3",
    "opened 4",
    "7 is ok",
    "opened 5",
    "8 is ok",
  ]);
});

it("once a plugin is in the lane no cell is prewarmed: a plugin that does not return would keep the thread from ending", async () => {
  const ends = await fresh();
  ends.tell(open(1));
  expect(ends.said).toEqual(["opened 1"]);
  ends.tell(open(2), open(3));
  // All of it in one turn of the lane: nothing was waited for.
  expect(ends.said).toEqual(["opened 1", "opened 2", "opened 3"]);
});

it("while cells are prewarmed no plugin code runs", async () => {
  const ends = await fresh();
  ends.tell(...Array.from({ length: 8 }, (_, at) => open(at)));
  expect(ends.said).toEqual([]);
  while (ends.said.length === 0) await new Promise((resolve) => setImmediate(resolve));
  // The first that is heard is heard with all of them.
  expect(ends.said).toEqual(Array.from({ length: 8 }, (_, at) => `opened ${at}`));
});

it("a lane that is closed while cells are prewarmed ends, and loads no plugin", async () => {
  const ends = await fresh();
  ends.tell(...Array.from({ length: 40 }, (_, at) => open(at)));
  await lanes[0]![Symbol.asyncDispose]();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends.said).toEqual([]);
});

it("a plugin that is removed before it was loaded is not called, and can be opened again", async () => {
  const ends = await fresh();
  ends.tell(
    open(1),
    open(2),
    pack({ kind: "drop", cell: 2 } satisfies HostMessage),
    open(3),
    route(1, 3),
    run(7, 1),
    route(2, 2),
    run(8, 2),
  );
  await ends.until("8 is failed");
  ends.tell(open(2), route(3, 2), run(9, 3));
  await ends.until("9 is ok");
  expect(ends.said.filter((line) => line.includes(" is "))).toEqual(["7 is ok", "8 is failed", "9 is ok"]);
});

it("with a single CPU no cell is prewarmed", async () => {
  const ends = await fresh(await withCpus(1));
  ends.tell(open(1), open(2), open(3));
  expect(ends.said).toEqual(["opened 1", "opened 2", "opened 3"]);
});

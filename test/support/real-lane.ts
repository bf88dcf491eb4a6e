/** A real lane with real cells, in the test's own thread. The test plays the host at the other end of both links. */
import { LIMITS } from "../../src/protocol/limits.ts";
import { limitsOf, pluginBudget } from "../../src/host/plugins/budget.ts";
import { guestCode } from "../../src/bundler/guest-code.ts";
import { pack, unpack } from "../../src/transport/frames.ts";
import type { Frame } from "../../src/transport/frames.ts";
import { LaneStatus, LANE_STATUS_BYTES } from "../../src/transport/lane-status.ts";
import { isCallFrame, readReply, callFrame } from "../../src/transport/call-frames.ts";
import type { Link } from "../../src/transport/link.ts";
import type { HostMessage, LaneMessage, Open, Route } from "../../src/protocol/messages/host-lane.ts";
import { Lane } from "../../src/sandbox/lane/lane.ts";
import { FACTS } from "./guest-facts.ts";

/** The host's end of a link. What the lane says is noted in words, in one list for all links. */
class HostEnd {
  readonly #said: string[];
  #hear: ((frames: readonly Frame[]) => void) | undefined;
  readonly #heard: () => void;
  readonly link: Link<Frame> = {
    onFrames: (listener) => (this.#hear = listener),
    onEnd: () => {},
    send: (frames) => {
      this.#said.push(...(frames as string[]).map(words));
      this.#heard();
    },
    close: () => {},
  };

  constructor(said: string[], heard: () => void) {
    this.#said = said;
    this.#heard = heard;
  }

  /** In one batch. */
  tell(...frames: Frame[]): void {
    this.#hear!(frames);
  }
}

export class RealLane {
  readonly said: string[] = [];
  #heard: () => void = () => {};
  readonly main = new HostEnd(this.said, () => this.#heard());
  readonly sync = new HostEnd(this.said, () => this.#heard());
  readonly #lane = new Lane(this.main.link, this.sync.link, new LaneStatus(new SharedArrayBuffer(LANE_STATUS_BYTES), 0));

  static async start(): Promise<RealLane> {
    const lane = new RealLane();
    lane.main.tell(pack({ kind: "hello", version: 1, rules: {} } satisfies HostMessage, await guestCode()), post({ kind: "sync" }));
    await lane.until("ready");
    return lane;
  }

  /** Resolves when the lane has said so, so often. What follows runs before the lane's loop has turned. */
  async until(what: string, times = 1): Promise<void> {
    while (this.count(what) < times) await new Promise<void>((resolve) => (this.#heard = resolve));
  }

  count(what: string): number {
    return this.said.filter((line) => line === what).length;
  }

  /** A plugin whose register function has this body. */
  async open(cell: number, body: string, more: Partial<Open> = {}): Promise<void> {
    this.main.tell(opening(cell, body, more));
    await this.until(`opened ${cell}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lane[Symbol.asyncDispose]();
  }
}

/** The turn that runs it takes at least so long: a long one, whatever the machine does. */
export const spin = (ms = 5): string => `{ const endMs = Date.now() + ${ms}; while (Date.now() < endMs); }`;

export function opening(cell: number, body: string, more: Partial<Open> = {}): string {
  const message: Open = {
    kind: "open",
    cell,
    plugin: `p${cell}`,
    limits: limitsOf(pluginBudget(undefined, undefined)),
    hasFineClock: false,
    hasVolume: false,
    isPaused: false,
    ...more,
  };
  return pack(message, `module.exports = (api) => { ${body} };`, FACTS);
}

export function post(message: HostMessage, ...bodies: string[]): string {
  return pack(message, ...bodies);
}

/** A route of the first handlers of these cells, in this order. */
export function route(number: number, cells: readonly number[], mode: Route["mode"] = "chain"): string {
  const hook = mode === "sync" ? "before_message_write" : "message_sending";
  return post({
    kind: "route",
    route: number,
    hook,
    mode,
    steps: cells.map((cell) => [cell, 0, 10_000, 1_000, LIMITS.call.resultBytes] as const),
  });
}

export function run(id: number, number: number): Frame {
  return callFrame(id, number, { cause: 1, from: 0, chains: true, spentMs: 0, event: JSON.stringify({ content: "x" }), context: "{}" });
}

function words(frame: string): string {
  if (isCallFrame(frame)) {
    const { id, isLast, steps } = readReply(frame);
    return `${id} is ${steps.map(({ status }) => status).join()}${isLast ? "" : " so far"}`;
  }
  const { header, bodies } = unpack(frame);
  const message = header as LaneMessage;
  switch (message.kind) {
    case "opened":
      return `${message.ok ? "opened" : "failed"} ${message.cell}`;
    case "log":
      return `${message.cell} says ${bodies[0]}`;
    case "request":
      return `${message.cell} asks ${message.request}`;
    default:
      return "cell" in message ? `${message.kind} ${message.cell}` : message.kind;
  }
}

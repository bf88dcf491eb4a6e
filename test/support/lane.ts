/** A lane that is played by the test: what the host sent to it, and a way to answer anything at all. */
import { LIMITS } from "../../src/protocol/limits.ts";
import { LaneClient } from "../../src/host/supervisor/lane-client.ts";
import type { Answers, RunRequest } from "../../src/host/supervisor/lane-client.ts";
import { pack } from "../../src/transport/frames.ts";
import type { Link } from "../../src/transport/link.ts";
import { PROTOCOL_VERSION } from "../../src/protocol/messages/host-lane.ts";
import type { Route } from "../../src/protocol/messages/host-lane.ts";

export class PlayedLink implements Link {
  readonly sent: string[] = [];
  #hear: (frames: readonly string[]) => void = () => {};
  #end: (why: string, isBroken: boolean) => void = () => {};
  isPaused = false;
  unsentBytes = 0;
  onFrames(listener: (frames: readonly string[]) => void): void {
    this.#hear = listener;
  }
  onEnd(listener: (why: string, isBroken: boolean) => void): void {
    this.#end = listener;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  send(frames: readonly string[]): void {
    this.sent.push(...frames);
  }
  close(): void {
    this.end("closed");
  }
  end(why: string, isBroken = false): void {
    this.#end(why, isBroken);
  }
  /** The lane says something. */
  say(...frames: string[]): void {
    this.#hear(frames);
  }
  ready(): void {
    this.say(pack({ kind: "ready", version: PROTOCOL_VERSION }));
  }
  /** The runs the host sent, as the lane numbers them. */
  runs(): number[] {
    return this.sent.filter((frame) => frame.startsWith("R")).map((frame) => Number(/^R(\d+)/.exec(frame)![1]));
  }
}

export interface PlayedLane {
  readonly lane: LaneClient;
  readonly link: PlayedLink;
  readonly replaced: string[];
  readonly received: string[];
  readonly ended: [why: string, isBroken: boolean][];
}

export function playedLane(message: (kind: string) => void = () => {}, isInTurn = (): boolean => false): PlayedLane {
  const replaced: string[] = [];
  const received: string[] = [];
  const ended: [string, boolean][] = [];
  const lane = new LaneClient(0, {
    message: ({ kind }) => {
      message(kind);
      received.push(kind);
    },
    isInTurn,
    replace: (why) => replaced.push(why),
    ended: (why, isBroken) => ended.push([why, isBroken]),
  });
  return { lane, link: new PlayedLink(), replaced, received, ended };
}

/** Starts a run of so many steps; gives the promise of its answers. */
export function start(
  lane: LaneClient,
  steps: number,
  more: { mode?: Route["mode"]; from?: number; wallMs?: number; attempt?: number } = {},
): Promise<Answers> & { id: number } {
  const { mode = "chain", from = 0, wallMs = 1_000, attempt = 1 } = more;
  const route = lane.route(
    "message_sending",
    mode,
    Array.from({ length: steps }, (_, handler) => [0, handler, wallMs, 1, LIMITS.call.eventBytes] as const),
  );
  const request: RunRequest = { cause: 1, route, from, chains: true, attempt, spentMs: 0, event: "{}", context: "{}" };
  let id = 0;
  const answers = new Promise<Answers>((resolve) => {
    id = lane.run(request, { answered: resolve });
  });
  return Object.assign(answers, { id });
}

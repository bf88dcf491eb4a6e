/** A lane that is played by the test: what the host sent to it, and a way to answer anything at all. */
import { LaneClient } from "../../src/host/lanes/lane-client.ts";
import type { Answers, RunRequest } from "../../src/host/lanes/lane-client.ts";
import { pack } from "../../src/protocol/frame.ts";
import type { Link } from "../../src/protocol/link.ts";
import { PROTOCOL_VERSION } from "../../src/protocol/messages.ts";
import type { Route } from "../../src/protocol/messages.ts";

export class PlayedLink implements Link {
  readonly sent: string[] = [];
  #hear: (frames: readonly string[]) => void = () => {};
  #end: (why: string) => void = () => {};
  onFrames(listener: (frames: readonly string[]) => void): void {
    this.#hear = listener;
  }
  onEnd(listener: (why: string) => void): void {
    this.#end = listener;
  }
  send(frames: readonly string[]): void {
    this.sent.push(...frames);
  }
  close(): void {
    this.#end("closed");
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
  readonly condemned: string[];
  readonly heard: string[];
}

export function playedLane(message: (kind: string) => void = () => {}): PlayedLane {
  const condemned: string[] = [];
  const heard: string[] = [];
  const lane = new LaneClient(0, {
    message: ({ kind }) => {
      message(kind);
      heard.push(kind);
    },
    condemned: (why) => condemned.push(why),
  });
  return { lane, link: new PlayedLink(), condemned, heard };
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
    Array.from({ length: steps }, (_, handler) => [0, handler, wallMs, 1] as const),
  );
  const request: RunRequest = { cause: 1, route, from, chains: true, attempt, spentMs: 0, event: "{}", context: "{}" };
  let id = 0;
  const answers = new Promise<Answers>((resolve) => {
    id = lane.run(request, { answered: resolve });
  });
  return Object.assign(answers, { id });
}

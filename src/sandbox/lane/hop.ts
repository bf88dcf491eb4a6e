/**
 * Untrusted side, lane thread: a hop is one trip of a run into a lane. It calls the handlers of its route in the cells
 * of the lane. A chain runs one handler after the other, as long as the lane may decide that the next one runs; a fan
 * starts all.
 */
import type { ChainRule } from "../../protocol/rules/chain-rule.ts";
import { writeReply } from "../../transport/call-frames.ts";
import type { CallRequest, StepReply } from "../../transport/call-frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Route, Step } from "../../protocol/messages/host-lane.ts";
import { Chain } from "./chain-step.ts";
import { answered, errorJson } from "./answer.ts";
import type { Answer } from "./answer.ts";
import type { Caller, Entry } from "./cell/calls.ts";
import type { Slot } from "./cell/slot-lane.ts";

/** Replies longer than this are sent at once: a frame has a limit, and many long results do not fit into one. */
const REPLY_CHARS = LIMITS.call.resultBytes;

const TOO_MUCH = errorJson("ERR_CALL_RESULTS_SIZE", { limit: LIMITS.call.eventBytes });

/** What a hop needs of its lane. */
export interface HopLane {
  /** The host blocks on runs of this link. */
  readonly isSync: boolean;
  slot(cell: number): Slot | undefined;
  /** Sends a reply frame of the hop. */
  reply(hop: Hop, frame: string, isLast: boolean): void;
  flush(): void;
  /** A turn was long: the lane must read its links before the next one. Never true where the host blocks. */
  mustYield(): boolean;
  /** A turn was long while the host blocks: the host decides whether the next handler still has time. */
  mustReturn(): boolean;
  /** Resumes after the lane has read its links. */
  yield(resume: () => void): void;
}

/** A route as the lane keeps it. */
export interface LaneRoute extends Route {
  /** Undefined for hooks that the host gave no rule for; then every result goes to the host first. */
  readonly rule: ChainRule | undefined;
  readonly entry: Entry;
}

export function laneRoute(route: Route, rule: ChainRule | undefined): LaneRoute {
  return { ...route, rule, entry: entryOf(route, rule) };
}

function entryOf({ mode }: Route, rule: ChainRule | undefined): Entry {
  if (mode === "sync") return { as: "sync", echo: rule?.echo };
  return { as: mode === "fan" ? "observer" : "result" };
}

export class Hop implements Caller {
  readonly id: number;
  /** As the lane status shows it. */
  readonly run: number;
  readonly cause: number;
  readonly #lane: HopLane;
  readonly #route: LaneRoute;
  readonly #context: string;
  readonly #chains: boolean;
  /** The event as the next handler sees it. */
  #event: string;
  #chain: Chain | undefined;
  readonly #isFan: boolean;
  /** The first step of this hop, and the next one to start. */
  readonly #from: number;
  #next: number;
  /** Steps of a fan that are not answered. */
  #open = 0;
  /** How much of the first step's wall time an earlier attempt has used up. */
  #spentMs: number;
  /** Its last reply was sent, or the host has cancelled it. */
  isOver = false;
  #replies: StepReply[] = [];
  #chars = 0;
  /** Of a chain: characters of all its results. Of a fan: characters of each cell's answers. */
  #resultChars = 0;
  #ofCell: Map<number, number> | undefined;

  constructor(lane: HopLane, route: LaneRoute, run: CallRequest) {
    this.id = run.id;
    this.run = lane.isSync ? -run.id : run.id;
    this.#spentMs = run.spentMs;
    this.cause = run.cause;
    this.#lane = lane;
    this.#route = route;
    this.#context = run.context;
    this.#event = run.event;
    this.#chains = run.chains;
    this.#isFan = route.mode === "fan" || route.mode === "gather";
    this.#from = run.from;
    this.#next = run.from;
  }

  start(): void {
    if (this.#isFan) {
      this.#open = this.#route.steps.length - this.#next;
      this.#fan();
    } else {
      this.#advance();
    }
  }

  /** The host no longer wants it. */
  cancel(): void {
    this.isOver = true;
    for (const [cell] of this.#route.steps) this.#lane.slot(cell)?.abandon(this);
  }

  /** The answer to a call that did not answer at once. */
  settle(step: number, answer: Answer): void {
    if (this.#isFan) {
      this.#observed(step, answer);
      this.#send(this.#open === 0);
    } else if (this.#goesOn(step, answer)) {
      // The turn that gave the answer may have been long.
      if (this.#next < this.#route.steps.length && this.#lane.mustYield()) this.#yield();
      else this.#advance();
    } else {
      this.#send(true);
    }
  }

  #fan(): void {
    const { steps } = this.#route;
    while (this.#next < steps.length) {
      const step = this.#next++;
      const answer = this.#call(step);
      if (answer) this.#observed(step, answer);
      if (this.#next < steps.length && this.#lane.mustYield()) return this.#yield();
    }
    this.#send(this.#open === 0);
  }

  #advance(): void {
    const { steps } = this.#route;
    while (this.#next < steps.length) {
      // Its plugin moved and the cell was dropped while an earlier handler was pending: the host knows where it lives now.
      if (this.#next > this.#from && !this.#lane.slot(steps[this.#next]![0])) break;
      const step = this.#next++;
      const answer = this.#call(step);
      if (!answer) return this.#send(false);
      if (!this.#goesOn(step, answer) || this.#lane.mustReturn()) break;
      if (this.#next < steps.length && this.#lane.mustYield()) return this.#yield();
    }
    this.#send(true);
  }

  /** The remaining steps run in the next turn of the lane's loop. */
  #yield(): void {
    this.#send(false);
    this.#lane.yield(() => {
      if (this.isOver) return;
      if (this.#isFan) this.#fan();
      else this.#advance();
    });
  }

  #call(at: number): Answer | undefined {
    const step = this.#step(at);
    const slot = this.#lane.slot(step[0]);
    if (!slot) return answered("failed", errorJson("ERR_CALL_NOT_LOADED", { detail: "it was removed" }));
    if (!slot.isQuick) {
      // Answers that are ready must not wait for this call, nor be lost if it brings the thread down.
      this.#send(false);
      this.#lane.flush();
    }
    return slot.call(this, at, step, this.#event, this.#context, this.#route.entry);
  }

  #step(at: number): Step {
    const step = this.#route.steps[at]!;
    if (this.#spentMs === 0) return step;
    const [cell, handler, wallMs, cpuMs, bytesOut] = step;
    const leftMs = Math.max(1, wallMs - this.#spentMs);
    if (!this.#isFan) this.#spentMs = 0;
    return [cell, handler, leftMs, cpuMs, bytesOut];
  }

  /** Records an answer. True: the next handler may run. */
  #goesOn(step: number, answer: Answer): boolean {
    this.#note(step, answer, answer.body);
    if (answer.status !== "ok") return false;
    if (answer.body === "" || this.#next >= this.#route.steps.length) return true;
    // The host reads long results one by one, and its event loop turns in between.
    this.#resultChars += answer.body.length;
    if (this.#resultChars > LIMITS.lane.hopResultChars) return false;
    this.#chain ??= new Chain(this.#route.rule, this.#event, this.#chains);
    const isLong = this.#event.length > LIMITS.lane.mailMeasuredChars;
    const startedMs = isLong ? performance.now() : 0;
    const goesOn = this.#chain.goesOn(answer.body);
    this.#event = this.#chain.event;
    // A long event takes longer to write than many a handler takes: that is the plugin's time, too, and others come first after it.
    if (isLong) this.#lane.slot(this.#route.steps[step]![0])?.chargeSince(startedMs);
    return goesOn;
  }

  /** The result of an observer is ignored, so it is not sent. */
  #observed(step: number, answer: Answer): void {
    this.#open -= 1;
    if (answer.body === "" || (answer.status === "ok" && this.#route.mode === "fan")) return this.#note(step, answer, "");
    const cell = this.#route.steps[step]![0];
    const chars = (this.#ofCell?.get(cell) ?? 0) + answer.body.length;
    // The host keeps all answers until the last one is there.
    if (chars > LIMITS.call.eventBytes) return this.#note(step, { ...answer, status: "failed" }, TOO_MUCH);
    (this.#ofCell ??= new Map()).set(cell, chars);
    this.#note(step, answer, answer.body);
  }

  #note(step: number, { status, wallMs, cpuUs }: Answer, body: string): void {
    this.#replies.push({ step, status, wallUs: Math.round(wallMs * 1000), cpuUs, body });
    this.#chars += body.length;
    if (this.#chars > REPLY_CHARS) this.#send(false);
  }

  #send(isLast: boolean): void {
    if (this.isOver || (!isLast && this.#replies.length === 0)) return;
    this.isOver = isLast;
    const frame = writeReply(this.id, isLast, this.#replies);
    this.#replies = [];
    this.#chars = 0;
    this.#lane.reply(this, frame, isLast);
  }
}

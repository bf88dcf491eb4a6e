/**
 * Untrusted side: one run on its way through the cells of a lane. A chain runs one handler after the other, as far as the
 * lane can tell that the next one may run; a fan starts them all.
 */
import type { ChainRule } from "../protocol/chain-rule.ts";
import { writeReply } from "../protocol/hot.ts";
import type { HotRun, StepReply } from "../protocol/hot.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Route, Step } from "../protocol/messages.ts";
import { Chain } from "./chain.ts";
import { answered, errorJson } from "./answer.ts";
import type { Answer } from "./answer.ts";
import type { Caller } from "./calls.ts";
import type { Entry, Resident } from "./resident.ts";

/** A reply that has grown past this is sent as it is: frames have a limit, and many results fit in it only one by one. */
const REPLY_CHARS = LIMITS.resultBytes;

/** What a hop needs of its lane. */
export interface HopLane {
  /** The host blocks on what is asked here. */
  readonly isSync: boolean;
  resident(cell: number): Resident | undefined;
  reply(hop: Hop, frame: string, isLast: boolean): void;
  flush(): void;
}

/** A route as the lane keeps it. */
export interface LaneRoute extends Route {
  /** Missing for hooks that the lane was told nothing about; then every result goes to the host first. */
  readonly rule: ChainRule | undefined;
  readonly entry: Entry;
}

export class Hop implements Caller {
  readonly id: number;
  /** As the gauge shows it. */
  readonly run: number;
  readonly cause: number;
  readonly #lane: HopLane;
  readonly #route: LaneRoute;
  readonly #context: string;
  readonly #chains: boolean;
  /** As the next handler sees it. */
  #event: string;
  #chain: Chain | undefined;
  readonly #isFan: boolean;
  /** The next step to start. */
  #next: number;
  /** Steps of a fan that are not answered. */
  #open = 0;
  /** Of the first step's wall time, what an earlier attempt has used up. */
  #spentMs: number;
  /** Its last reply was given, or the host does not want it any more. */
  isOver = false;
  #replies: StepReply[] = [];
  #chars = 0;

  constructor(lane: HopLane, route: LaneRoute, run: HotRun) {
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
    this.#next = run.from;
  }

  start(): void {
    if (this.#isFan) this.#fan();
    else this.#advance();
  }

  /** Its first step is called for it, with others'. The answer comes as if it had been waited for. */
  shareTurn(): void {
    this.#next += 1;
  }

  /** The host does not want it any more. */
  cancel(): void {
    this.isOver = true;
    for (const [cell] of this.#route.steps) this.#lane.resident(cell)?.abandon(this);
  }

  /** An answer that came later. */
  settle(step: number, answer: Answer): void {
    if (this.#isFan) {
      this.#observed(step, answer);
      this.#send(this.#open === 0);
    } else if (this.#goesOn(step, answer)) {
      this.#advance();
    } else {
      this.#send(true);
    }
  }

  #fan(): void {
    const { steps } = this.#route;
    this.#open = steps.length - this.#next;
    for (let step = this.#next; step < steps.length; step++) {
      const answer = this.#call(step);
      if (answer) this.#observed(step, answer);
    }
    this.#send(this.#open === 0);
  }

  #advance(): void {
    while (this.#next < this.#route.steps.length) {
      const step = this.#next++;
      const answer = this.#call(step);
      if (!answer) return this.#send(false);
      if (!this.#goesOn(step, answer)) break;
    }
    this.#send(true);
  }

  #call(at: number): Answer | undefined {
    const step = this.#step(at);
    const resident = this.#lane.resident(step[0]);
    if (!resident) return answered("failed", errorJson("ERR_CALL_NOT_LOADED", { detail: "it was removed" }));
    if (!resident.isQuick) {
      // What was answered so far must not wait for this one, nor be lost if it takes the thread with it.
      this.#send(false);
      this.#lane.flush();
    }
    return resident.call(this, at, step, this.#event, this.#context, this.#route.entry);
  }

  #step(at: number): Step {
    const step = this.#route.steps[at]!;
    if (this.#spentMs === 0) return step;
    const [cell, handler, wallMs, cpuMs] = step;
    const leftMs = Math.max(1, wallMs - this.#spentMs);
    if (!this.#isFan) this.#spentMs = 0;
    return [cell, handler, leftMs, cpuMs];
  }

  /** Notes an answer and says whether the next handler may run. */
  #goesOn(step: number, answer: Answer): boolean {
    this.#note(step, answer, answer.body);
    if (answer.status !== "ok") return false;
    if (answer.body === "" || this.#next >= this.#route.steps.length) return true;
    this.#chain ??= new Chain(this.#route.rule, this.#event, this.#chains);
    const goesOn = this.#chain.goesOn(answer.body);
    this.#event = this.#chain.event;
    return goesOn;
  }

  /** Nobody reads what an observer returned, so it does not travel. */
  #observed(step: number, answer: Answer): void {
    this.#open -= 1;
    this.#note(step, answer, answer.status === "ok" && this.#route.mode === "fan" ? "" : answer.body);
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

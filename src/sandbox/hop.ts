/**
 * Untrusted side: one `run` message on its way through the cells of a lane. A chain runs one handler after the other, as far
 * as the lane can tell that the next one may run; a fan starts them all.
 */
import type { ChainRule } from "../protocol/chain-rule.ts";
import { pack } from "../protocol/frame.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Run, Step, StepReply } from "../protocol/messages.ts";
import { chain } from "./chain.ts";
import { answered, errorJson } from "./resident.ts";
import type { Answer, Resident } from "./resident.ts";

export interface HopOptions {
  readonly run: Run;
  readonly event: string;
  readonly context: string;
  /** Unknown to hooks of a newer catalog than the lane's; then every result goes to the host first. */
  readonly rule: ChainRule | undefined;
  readonly resident: (cell: number) => Resident | undefined;
  readonly reply: (frame: string, isLast: boolean) => void;
}

/** A reply that has grown past this is sent as it is: frames have a limit, and many results fit in it only one by one. */
const REPLY_CHARS = LIMITS.resultBytes;

export class Hop {
  readonly #options: HopOptions;
  /** As the next handler sees it. */
  #event: string;
  /** The next step to start. */
  #next = 0;
  /** Steps of a fan that are not answered. */
  #open = 0;
  #isOver = false;
  #replies: StepReply[] = [];
  #bodies: string[] = [];
  #chars = 0;

  constructor(options: HopOptions) {
    this.#options = options;
    this.#event = options.event;
  }

  start(): void {
    if (this.#options.run.mode === "fan" || this.#options.run.mode === "gather") this.#fan();
    else this.#advance();
  }

  /** The host does not want it any more. */
  cancel(): void {
    this.#isOver = true;
    for (const [cell] of this.#options.run.steps) this.#options.resident(cell)?.abandon(this.#options.run.id);
  }

  #fan(): void {
    const { steps } = this.#options.run;
    this.#open = steps.length;
    for (const step of steps.keys()) {
      const answer = this.#call(step, (late) => {
        this.#noteObserved(step, late);
        this.#send(this.#open === 0);
      });
      if (answer) this.#noteObserved(step, answer);
    }
    this.#send(this.#open === 0);
  }

  /** Nobody reads what an observer returned, so it does not travel. */
  #noteObserved(step: number, answer: Answer): void {
    this.#open -= 1;
    this.#note(step, answer.status === "ok" && this.#options.run.mode === "fan" ? { ...answer, body: "" } : answer);
  }

  #advance(): void {
    while (this.#next < this.#options.run.steps.length) {
      const step = this.#next++;
      const answer = this.#call(step, (late) => {
        if (this.#goesOn(step, late)) this.#advance();
        else this.#send(true);
      });
      if (!answer) return this.#send(false);
      if (!this.#goesOn(step, answer)) break;
    }
    this.#send(true);
  }

  #call(step: number, settle: (answer: Answer) => void): Answer | undefined {
    const { run, context, rule, resident } = this.#options;
    const [cell, handler, wallMs, cpuMs] = run.steps[step] as Step;
    const place = resident(cell);
    if (!place) return answered("failed", errorJson("ERR_CALL_NOT_LOADED", { detail: "it was removed" }));
    const isSync = run.mode === "sync";
    return place.call({
      run: run.id,
      cause: run.cause,
      handler,
      wallMs,
      cpuMs,
      event: this.#event,
      context,
      isSync,
      echo: isSync ? rule?.echo : undefined,
      settle,
    });
  }

  /** Notes an answer and says whether the next handler may run. */
  #goesOn(step: number, answer: Answer): boolean {
    this.#note(step, answer);
    if (answer.status !== "ok") return false;
    const { run, rule } = this.#options;
    if (answer.body === "" || this.#next >= run.steps.length) return true;
    if (!rule) return false;
    const chained = chain(rule, this.#event, answer.body, run.chains);
    this.#event = chained.event;
    return chained.goesOn;
  }

  #note(step: number, { status, wallMs, cpuUs, body }: Answer): void {
    this.#replies.push([step, status, Math.round(wallMs * 1000), cpuUs]);
    this.#bodies.push(body);
    this.#chars += body.length;
    if (this.#chars > REPLY_CHARS) this.#send(false);
  }

  #send(isLast: boolean): void {
    if (this.#isOver || (!isLast && this.#replies.length === 0)) return;
    this.#isOver = isLast;
    const frame = pack({ kind: "reply", id: this.#options.run.id, last: isLast, steps: this.#replies }, ...this.#bodies);
    this.#replies = [];
    this.#bodies = [];
    this.#chars = 0;
    this.#options.reply(frame, isLast);
  }
}

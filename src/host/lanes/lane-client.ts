/**
 * Trusted side: the host's view of one lane. It outlives the thread or process behind it: what was not yet sent when that
 * died goes to the replacement, what was sent and not answered is settled as crashed. Everything a lane says is checked here.
 */
import pTimeout from "p-timeout";
import { errorMessage } from "../../protocol/errors.ts";
import type { ErrorCode, ErrorParams } from "../../protocol/errors.ts";
import { pack, unpack } from "../../protocol/frame.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Link } from "../../protocol/link.ts";
import { laneMessage } from "../../protocol/messages.ts";
import type { HostMessage, LaneMessage, Run, StepReply } from "../../protocol/messages.ts";

/** How one step of a run ended. The body is a result or an error, as the guest wrote it. */
export interface StepAnswer {
  readonly status: StepReply[1];
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly body: string;
}

export type RunRequest = Omit<Run, "kind" | "id">;

interface PendingRun {
  readonly answers: (StepAnswer | undefined)[];
  readonly isFan: boolean;
  /** The longest single turn it may take inside the lane. */
  readonly turnMs: number;
  isSent: boolean;
  settle(answers: (StepAnswer | undefined)[]): void;
}

export interface LaneEvents {
  /** Anything but a reply. */
  message(message: Exclude<LaneMessage, { kind: "reply" }>, bodies: string[]): void;
  /** The lane is of no use any more; whoever owns it should replace it. */
  condemned(why: string): void;
}

export class LaneClient {
  readonly index: number;
  readonly #events: LaneEvents;
  readonly #pending = new Map<number, PendingRun>();
  #outbox: { frame: string; run?: PendingRun }[] = [];
  #link: Link | undefined;
  /** Until the lane has said so, it is starting, and what it should do waits here. */
  #isReady = false;
  #nextRun = 1;
  #isFlushing = false;
  #heardMs = 0;
  #suspicion: NodeJS.Timeout | undefined;

  constructor(index: number, events: LaneEvents) {
    this.index = index;
    this.#events = events;
  }

  /** A thread or process is there; `first` goes ahead of everything that waits. */
  connect(link: Link, first: readonly string[]): void {
    this.#link = link;
    link.onFrames((frames) => {
      this.#heardMs = performance.now();
      for (const frame of frames) this.#receive(frame);
    });
    link.send(first);
  }

  /** The thread or process is gone. */
  disconnect(why: string): void {
    this.#link = undefined;
    this.#isReady = false;
    this.#trust();
    const died = failure("crashed", "ERR_SANDBOX_DIED", { detail: why });
    for (const [id, run] of this.#pending) {
      if (!run.isSent) continue;
      this.#pending.delete(id);
      run.settle(fillOpen(run, died));
    }
  }

  post(message: HostMessage, ...bodies: string[]): void {
    this.postFrame(pack(message, ...bodies));
  }

  postFrame(frame: string): void {
    this.#queue({ frame });
  }

  /**
   * Runs handlers in this lane. Gives an answer per step, in order; undefined for steps the lane left to the host. Never
   * rejects but for the signal.
   */
  async run(request: RunRequest, event: string, context: string, signal?: AbortSignal): Promise<readonly (StepAnswer | undefined)[]> {
    const id = this.#nextRun++;
    const isFan = request.mode === "fan" || request.mode === "gather";
    let budgetMs = 0;
    let turnMs = 0;
    for (const [, , wallMs, cpuMs] of request.steps) {
      budgetMs = isFan ? Math.max(budgetMs, wallMs) : budgetMs + wallMs;
      turnMs = Math.max(turnMs, cpuMs);
    }
    const { promise, resolve } = Promise.withResolvers<(StepAnswer | undefined)[]>();
    const run: PendingRun = { answers: Array.from({ length: request.steps.length }), isFan, turnMs, isSent: false, settle: resolve };
    this.#pending.set(id, run);
    this.#queue({ frame: pack({ kind: "run", id, ...request } satisfies Run, event, context), run });
    const milliseconds = budgetMs + LIMITS.laneGraceMs;
    try {
      return await pTimeout(promise, { milliseconds, fallback: () => this.#giveUp(run, milliseconds), ...(signal && { signal }) });
    } catch (error) {
      // Only the caller's signal ends here.
      if (run.isSent) this.post({ kind: "cancel", id });
      else this.#withdraw(run);
      throw error;
    } finally {
      this.#pending.delete(id);
    }
  }

  /** The lane keeps budgets by itself. If it did not, it is busy with others, or starting, or stuck. */
  #giveUp(run: PendingRun, ms: number): (StepAnswer | undefined)[] {
    if (run.isSent) this.#suspect(run.turnMs);
    else this.#withdraw(run);
    return fillOpen(run, { ...failure("timeout", "ERR_SANDBOX_STUCK", { ms }), wallMs: ms });
  }

  /** A lane that says nothing for longer than any turn in it may take is stuck. */
  #suspect(turnMs: number): void {
    if (this.#suspicion) return;
    let longestMs = turnMs;
    for (const run of this.#pending.values()) longestMs = Math.max(longestMs, run.turnMs);
    const allowedMs = longestMs + LIMITS.turnSlackMs + LIMITS.laneGraceMs;
    const heardMs = this.#heardMs;
    const waitMs = Math.max(0, heardMs + allowedMs - performance.now());
    this.#suspicion = setTimeout(() => {
      this.#suspicion = undefined;
      if (this.#heardMs === heardMs && this.#isReady)
        this.#events.condemned(errorMessage("ERR_SANDBOX_STUCK", { ms: Math.round(allowedMs) }));
    }, waitMs);
    this.#suspicion.unref();
  }

  #trust(): void {
    clearTimeout(this.#suspicion);
    this.#suspicion = undefined;
  }

  #withdraw(run: PendingRun): void {
    this.#outbox = this.#outbox.filter((item) => item.run !== run);
  }

  #queue(item: { frame: string; run?: PendingRun }): void {
    this.#outbox.push(item);
    if (this.#isFlushing || !this.#isReady) return;
    // Runs that start in one tick of the gateway travel together.
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#link || !this.#isReady || this.#outbox.length === 0) return;
    const items = this.#outbox;
    this.#outbox = [];
    for (const { run } of items) if (run) run.isSent = true;
    this.#link.send(items.map((item) => item.frame));
  }

  #receive(frame: string): void {
    try {
      const { header, bodies } = unpack(frame);
      const message = laneMessage.parse(header);
      if (message.kind === "reply") return this.#reply(message, bodies);
      this.#events.message(message, bodies);
      if (message.kind !== "ready") return;
      this.#isReady = true;
      this.#flush();
    } catch (error) {
      // SECURITY: a lane that does not keep to the protocol is not a lane. test/host/lane-client.test.ts
      this.#events.condemned(errorMessage("ERR_SANDBOX_PROTOCOL", { detail: error instanceof Error ? error.message : String(error) }));
    }
  }

  #reply(reply: Extract<LaneMessage, { kind: "reply" }>, bodies: string[]): void {
    // A run that was cancelled or given up may still be answered.
    const run = this.#pending.get(reply.id);
    if (!run) return;
    readReply(reply, bodies, run.answers);
    if (reply.last) run.settle(run.answers);
  }
}

/** Puts a reply's steps where they belong. Throws when it answers what was not asked. */
export function readReply(
  reply: Extract<LaneMessage, { kind: "reply" }>,
  bodies: readonly string[],
  answers: (StepAnswer | undefined)[],
): void {
  for (const [position, [step, status, wallUs, cpuUs]] of reply.steps.entries()) {
    const body = bodies[position];
    if (step >= answers.length || body === undefined) throw new RangeError("a reply to a step that was not asked for");
    answers[step] ??= { status, wallMs: wallUs / 1000, cpuMs: cpuUs / 1000, body };
  }
}

export function failure(status: StepAnswer["status"], code: ErrorCode, params: ErrorParams): StepAnswer {
  return { status, wallMs: 0, cpuMs: 0, body: JSON.stringify({ code, message: errorMessage(code, params) }) };
}

/** Side by side, every open step was running; in a chain only the first one can have been, those behind it were not started. */
function fillOpen({ answers, isFan }: PendingRun, answer: StepAnswer): (StepAnswer | undefined)[] {
  const open = answers.indexOf(undefined);
  if (open < 0) return answers;
  return isFan ? answers.map((known) => known ?? answer) : answers.with(open, answer);
}

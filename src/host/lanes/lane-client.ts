/**
 * Trusted side: the host's view of one lane. It outlives the thread or process behind it: what was not yet sent when that
 * died goes to the replacement, what was sent and not answered is settled as crashed. Everything a lane says is checked here.
 */
import pTimeout from "p-timeout";
import { errorMessage } from "../../protocol/errors.ts";
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
  readonly steps: number;
  readonly answers: (StepAnswer | undefined)[];
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
  #nextRun = 1;
  #isFlushing = false;

  constructor(index: number, events: LaneEvents) {
    this.index = index;
    this.#events = events;
  }

  /** Runs that are waiting for an answer. */
  get inFlight(): number {
    return this.#pending.size;
  }

  /** A thread or process is there; `first` goes ahead of everything that waited. */
  connect(link: Link, first: readonly string[]): void {
    this.#link = link;
    link.onFrames((frames) => {
      for (const frame of frames) this.#receive(frame);
    });
    link.send(first);
    this.#flush();
  }

  /** The thread or process is gone. */
  disconnect(why: string): void {
    this.#link = undefined;
    const body = JSON.stringify({ code: "ERR_SANDBOX_DIED", message: errorMessage("ERR_SANDBOX_DIED", { detail: why }) });
    for (const [id, run] of this.#pending) {
      if (!run.isSent) continue;
      this.#pending.delete(id);
      // The first unanswered step may have been running; those behind it were not started.
      const open = run.answers.indexOf(undefined);
      if (open >= 0) run.answers[open] = { status: "crashed", wallMs: 0, cpuMs: 0, body };
      run.settle(run.answers);
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
    let budgetMs = 0;
    for (const step of request.steps) budgetMs = request.mode === "fan" ? Math.max(budgetMs, step[2]) : budgetMs + step[2];
    const { promise, resolve } = Promise.withResolvers<(StepAnswer | undefined)[]>();
    const run: PendingRun = {
      steps: request.steps.length,
      answers: Array.from({ length: request.steps.length }),
      isSent: false,
      settle: resolve,
    };
    this.#pending.set(id, run);
    this.#queue({ frame: pack({ kind: "run", id, ...request } satisfies Run, event, context), run });
    const milliseconds = budgetMs + LIMITS.laneGraceMs;
    try {
      return await pTimeout(promise, { milliseconds, fallback: () => this.#stuck(run, milliseconds), ...(signal && { signal }) });
    } catch (error) {
      // Only the caller's signal ends here.
      if (run.isSent) this.post({ kind: "cancel", id });
      else this.#outbox = this.#outbox.filter((item) => item.run !== run);
      throw error;
    } finally {
      this.#pending.delete(id);
    }
  }

  /** The lane keeps budgets by itself; if it does not, it is stuck, or it is not there. */
  #stuck(run: PendingRun, ms: number): (StepAnswer | undefined)[] {
    const open = run.answers.indexOf(undefined);
    const body = JSON.stringify({ code: "ERR_SANDBOX_STUCK", message: errorMessage("ERR_SANDBOX_STUCK", { ms }) });
    if (open >= 0) run.answers[open] = { status: "timeout", wallMs: ms, cpuMs: 0, body };
    if (run.isSent) this.#events.condemned(errorMessage("ERR_SANDBOX_STUCK", { ms }));
    else this.#outbox = this.#outbox.filter((item) => item.run !== run);
    return run.answers;
  }

  #queue(item: { frame: string; run?: PendingRun }): void {
    this.#outbox.push(item);
    if (this.#isFlushing || !this.#link) return;
    // Runs that start in one tick of the gateway travel together.
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#link || this.#outbox.length === 0) return;
    const items = this.#outbox;
    this.#outbox = [];
    for (const { run } of items) if (run) run.isSent = true;
    this.#link.send(items.map((item) => item.frame));
  }

  #receive(frame: string): void {
    try {
      const { header, bodies } = unpack(frame);
      const message = laneMessage.parse(header);
      if (message.kind === "reply") this.#reply(message, bodies);
      else this.#events.message(message, bodies);
    } catch (error) {
      // SECURITY: a lane that does not keep to the protocol is not a lane. test/host/lane-client.test.ts
      this.#events.condemned(errorMessage("ERR_SANDBOX_PROTOCOL", { detail: error instanceof Error ? error.message : String(error) }));
    }
  }

  #reply(reply: Extract<LaneMessage, { kind: "reply" }>, bodies: string[]): void {
    // A run that was cancelled or given up may still be answered.
    const run = this.#pending.get(reply.id);
    if (!run) return;
    for (const [position, [step, status, wallUs, cpuUs]] of reply.steps.entries()) {
      const body = bodies[position];
      if (step >= run.steps || body === undefined) throw new RangeError("a reply to a step that was not asked for");
      run.answers[step] ??= { status, wallMs: wallUs / 1000, cpuMs: cpuUs / 1000, body };
    }
    if (reply.last) run.settle(run.answers);
  }
}

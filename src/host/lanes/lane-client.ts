/**
 * Trusted side: the host's view of one lane. It outlives the thread or process behind it: what was not yet sent when that
 * died goes to the replacement, what was sent and not answered is settled as crashed. Everything a lane says is checked here.
 */
import pTimeout from "p-timeout";
import { errorMessage } from "../../protocol/errors.ts";
import { pack, unpack } from "../../protocol/frame.ts";
import type { Frame } from "../../protocol/frame.ts";
import { isHot, readReply, runFrame } from "../../protocol/hot.ts";
import type { HotReply, HotRun, StepReply } from "../../protocol/hot.ts";
import { LIMITS, turnMs } from "../../protocol/limits.ts";
import type { Link } from "../../protocol/link.ts";
import { laneMessage } from "../../protocol/messages.ts";
import type { HostMessage, LaneMessage, Route } from "../../protocol/messages.ts";
import { afterDeath, failure, firstOpen, isFan } from "./death.ts";
import type { Death } from "./death.ts";
import { PendingRuns } from "./pending-runs.ts";
import { Vigil } from "./vigil.ts";

/** How one step of a run ended. The body is a result or an error, as the guest wrote it. */
export type StepAnswer = Omit<StepReply, "step">;

/** What a lane answered. */
export interface Answers {
  /** By position in the route; undefined for steps before `from`, and for those that the lane left to the host. */
  readonly steps: readonly (StepAnswer | undefined)[];
  /** The sandbox died through no fault of theirs: steps without an answer, up to this one, are to be made once more. */
  readonly again?: { readonly spentMs: number; readonly until: number };
}

export type RunRequest = Omit<HotRun, "id" | "route"> & { readonly route: Route; readonly attempt: number };

interface PendingRun {
  readonly id: number;
  readonly request: RunRequest;
  readonly answers: (StepAnswer | undefined)[];
  readonly receiver: Receiver;
  readonly frame: Frame;
  /** When it was found to have grown old; 0: it is young. */
  oldMs: number;
  isSent: boolean;
  /** A reply came that was not the last: the lane sends one when it is about to enter, or waits for, the next step. */
  isPartlyAnswered: boolean;
  /** Set once it has its own clock. */
  settled: (() => void) | undefined;
}

/** Whoever started a run. Told once, whatever happens, unless the run was cancelled. */
export interface Receiver {
  /** The run that it is a part of. */
  readonly input?: object;
  answered(answers: Answers, lane: LaneClient): void;
}

export interface LaneEvents {
  message(message: LaneMessage, bodies: string[]): void;
  /** The lane is of no use any more; whoever owns it should replace it. */
  condemned(why: string): void;
}

/** A third of what `queueMicrotask` costs, which makes a resource for async hooks. */
const SOON = Promise.resolve();

export class LaneClient {
  readonly index: number;
  readonly #events: LaneEvents;
  readonly #pending = new PendingRuns<PendingRun>();
  readonly #routes = new Map<string, Route>();
  readonly #announced = new Set<number>();
  #nextRoute = 0;
  #outbox: (string | PendingRun)[] = [];
  #link: Link | undefined;
  /** Until the lane has said so, it is starting, and what it should do waits here. */
  #isReady = false;
  #isHeld = false;
  #generation = 0;
  #isFlushing = false;
  /** Counts up with everything the lane says. */
  #heard = 0;
  #isWatching = false;
  readonly #vigil = new Vigil({
    pending: () => this.#pending.size,
    poll: () => this.#link?.poll?.() ?? false,
    heardOtherwise: () => (this.#link?.hasTwoWays ? this.#heard : 0),
    rest: () => this.#link?.rest?.(),
  });
  #suspicion: NodeJS.Timeout | undefined;

  constructor(index: number, events: LaneEvents) {
    this.index = index;
    this.#events = events;
  }

  /** A thread or process is there; `first` goes ahead of everything that waits. */
  connect(link: Link, first: readonly string[]): void {
    this.#link = link;
    this.#generation += 1;
    link.onFrames((frames) => {
      // What a thread or process says that was given up already is of no interest.
      if (this.#link !== link) return;
      this.#heard += 1;
      this.#vigil.earn(frames.length);
      for (const frame of frames) this.#receive(frame);
    });
    link.send([...first, ...Array.from(this.#routes.values(), (route) => pack(route))]);
    for (const { route } of this.#routes.values()) this.#announced.add(route);
  }

  /** The thread or process is going to be replaced: no further run is sent to it, what is in it may be answered. */
  hold(): void {
    this.#isHeld = true;
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  /** Which thread or process it is that answers: another one knows nothing of what this one was told. */
  get generation(): number {
    return this.#generation;
  }

  /** Has it said that it is there? */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Has it been sent anything that it has not answered? */
  get isBusy(): boolean {
    return this.#pending.all().some(({ isSent }) => isSent);
  }

  /** Has it been sent something a while ago that it has not answered? */
  get isOverdue(): boolean {
    return this.#pending.all().some(({ isSent, oldMs }) => isSent && oldMs > 0);
  }

  /** The runs that are in it, or are to be sent to it. */
  inputs(): object[] {
    return this.#pending.all().flatMap(({ receiver }) => receiver.input ?? []);
  }

  /** What a step of a run that is in it may cost; undefined when it is not. */
  cpuMsOf(run: number, step: number): number | undefined {
    return this.#pending.get(run)?.request.route.steps[step]?.[3];
  }

  /** The thread or process is gone, or as good as gone. */
  disconnect(death: Death): void {
    this.#link = undefined;
    this.#isReady = false;
    this.#isHeld = false;
    this.#announced.clear();
    clearTimeout(this.#suspicion);
    this.#suspicion = undefined;
    const pending = this.#pending.all();
    const sent = pending.filter((run) => run.isSent);
    const isQueued = ({ id }: PendingRun): boolean => death.begun !== undefined && id > death.begun;
    const queued = sent.filter(isQueued);
    for (const run of queued) run.isSent = false;
    // Answers to its questions and the like would mean something else to the next one.
    this.#outbox = [...queued, ...this.#outbox.filter((item) => typeof item !== "string")];
    for (const run of death.isFinal ? pending : sent) {
      if (isQueued(run)) continue;
      const spentMs = run.oldMs === 0 ? LIMITS.youngRunMs : Math.ceil(performance.now() - run.oldMs) + LIMITS.youngRunMs;
      this.#settle(run, afterDeath({ ...run, spentMs }, death));
    }
  }

  /** A plugin has moved away: runs through its cell that were not sent are sent back to whoever started them, to be sent where it lives now. */
  evict(cell: number): void {
    for (const run of this.#pending.all()) {
      if (run.isSent || !run.request.route.steps.some((step) => step[0] === cell)) continue;
      this.#withdraw(run);
      const { attempt, spentMs, from } = run.request;
      this.#settle(run, { steps: [], again: { spentMs, until: attempt > 1 ? from : from - 1 } });
    }
  }

  /** A cell is gone for good, and with it the routes through it. */
  forget(cell: number): void {
    for (const [key, { route, steps }] of this.#routes) {
      if (!steps.some((step) => step[0] === cell)) continue;
      this.#routes.delete(key);
      this.#announced.delete(route);
    }
    this.post({ kind: "drop", cell });
  }

  post(message: HostMessage, ...bodies: string[]): void {
    this.postFrame(pack(message, ...bodies));
  }

  /** Only to a lane that is there: the next one is told by its greeting, and owes nobody anything. */
  postFrame(frame: string): void {
    if (this.#link) this.#queue(frame);
  }

  /** Handlers that are run together; the lane is told once. */
  route(hook: string, mode: Route["mode"], steps: Route["steps"]): Route {
    const key = keyOf(hook, mode, steps);
    let route = this.#routes.get(key);
    if (!route) {
      route = { kind: "route", route: this.#nextRoute++, hook, mode, steps };
      this.#routes.set(key, route);
    }
    return route;
  }

  /** Runs handlers in this lane. Gives a number to cancel it by. */
  run(request: RunRequest, receiver: Receiver): number {
    const id = this.#pending.nextId();
    const { route } = request;
    if (!this.#announced.has(route.route)) this.#announce(route);
    const frame = runFrame(id, route.route, request);
    const run: PendingRun = {
      id,
      request,
      answers: [],
      receiver,
      frame,
      oldMs: 0,
      isSent: false,
      isPartlyAnswered: false,
      settled: undefined,
    };
    this.#pending.add(run);
    this.#queue(run);
    if (!this.#isWatching) {
      this.#isWatching = true;
      setTimeout(() => this.#watchOld(), LIMITS.youngRunMs).unref();
    }
    return id;
  }

  /** Resolves when the lane has done what was posted before, or when it cannot be waited for: a run without handlers has been there and back. */
  reached(): Promise<void> {
    if (!this.#isReady) return Promise.resolve();
    return new Promise((resolve) => {
      const route = this.route("", "chain", []);
      const request = { cause: 0, route, from: 0, chains: false, attempt: 1, spentMs: 0, event: "{}", context: "{}" };
      this.run(request, { answered: () => resolve() });
    });
  }

  cancel(id: number): void {
    const run = this.#pending.get(id);
    if (!run) return;
    this.#pending.delete(id);
    run.settled?.();
    if (run.isSent) this.post({ kind: "cancel", id });
    else this.#withdraw(run);
  }

  /** A lane that is not there yet is told when it comes. */
  #announce(route: Route): void {
    const { hook, mode, steps } = route;
    this.#routes.set(keyOf(hook, mode, steps), route);
    if (!this.#link) return;
    this.#announced.add(route.route);
    this.post(route);
  }

  /** Most runs are over before a clock of their own would be worth its price: only those that have grown old get one. */
  #watchOld(): void {
    this.#isWatching = false;
    this.#link?.nudge?.();
    for (const run of this.#pending.all()) if (!run.settled) this.#guard(run);
  }

  #guard(run: PendingRun): void {
    const milliseconds = budgetOf(run.request) + LIMITS.laneGraceMs;
    const { promise, resolve } = Promise.withResolvers<void>();
    run.settled = resolve;
    run.oldMs = performance.now();
    void pTimeout(promise, { milliseconds, fallback: () => this.#giveUp(run, milliseconds) });
  }

  /** The lane keeps budgets by itself. If it did not, it is busy with others, or starting, or stuck. */
  #giveUp(run: PendingRun, ms: number): void {
    if (run.isSent) this.#suspect();
    else this.#withdraw(run);
    this.#settle(run, fillOpen(run, { ...failure("timeout", "ERR_SANDBOX_STUCK", { ms }), wallUs: ms * 1000 }));
  }

  /** A lane that says nothing for longer than any turn in it may take is stuck. */
  #suspect(): void {
    if (this.#suspicion) return;
    let longestMs = 0;
    for (const { request } of this.#pending.all()) for (const step of request.route.steps) longestMs = Math.max(longestMs, step[3]);
    const allowedMs = turnMs(longestMs);
    const heard = this.#heard;
    this.#suspicion = setTimeout(() => {
      this.#suspicion = undefined;
      if (this.#heard === heard && this.#isReady) this.#events.condemned(errorMessage("ERR_SANDBOX_STUCK", { ms: allowedMs }));
    }, allowedMs).unref();
  }

  #settle(run: PendingRun, answers: Answers): void {
    if (!this.#pending.delete(run.id)) return;
    run.settled?.();
    run.receiver.answered(answers, this);
  }

  #withdraw(run: PendingRun): void {
    this.#outbox = this.#outbox.filter((item) => item !== run);
  }

  #queue(item: string | PendingRun): void {
    this.#outbox.push(item);
    if (!this.#isReady) return;
    // The lane may begin with these while the gateway makes more.
    if (this.#outbox.length >= LIMITS.togetherCalls && !this.#isHeld) return this.#flush();
    if (this.#isFlushing) return;
    // Runs that start in one tick of the gateway travel together.
    this.#isFlushing = true;
    void SOON.then(this.#flushNow);
  }

  readonly #flushNow = (): void => {
    this.#isFlushing = false;
    this.#flush();
  };

  #flush(): void {
    if (!this.#link || !this.#isReady || this.#outbox.length === 0) return;
    const items = this.#isHeld ? this.#outbox.filter((item) => typeof item === "string") : this.#outbox;
    this.#outbox = this.#isHeld ? this.#outbox.filter((item) => typeof item !== "string") : [];
    const frames: Frame[] = [];
    for (const item of items) {
      if (typeof item === "string") {
        frames.push(item);
      } else {
        item.isSent = true;
        frames.push(item.frame);
      }
    }
    if (frames.length === 0) return;
    this.#link.send(frames, this.#pending.size > 0 && this.#link.isHeard?.() === true && this.#vigil.keep());
  }

  #receive(frame: string): void {
    try {
      if (isHot(frame)) return this.#reply(readReply(frame));
      const { header, bodies } = unpack(frame);
      const message = laneMessage.parse(header);
      this.#events.message(message, bodies);
      if (message.kind !== "ready") return;
      this.#isReady = true;
      this.#flush();
    } catch (error) {
      // SECURITY: a lane that does not keep to the protocol is not a lane. test/host/lane-client.test.ts
      this.#events.condemned(errorMessage("ERR_SANDBOX_PROTOCOL", { detail: error instanceof Error ? error.message : String(error) }));
    }
  }

  #reply(reply: HotReply): void {
    // A run that was cancelled or given up may still be answered.
    const run = this.#pending.get(reply.id);
    if (!run) return;
    takeReply(reply, run.request.route, run.answers);
    if (reply.isLast) this.#settle(run, { steps: run.answers });
    else run.isPartlyAnswered = true;
  }
}

/** Puts a reply's steps where they belong. Throws when it answers what was not asked. */
export function takeReply(reply: HotReply, route: Route, answers: (StepAnswer | undefined)[]): void {
  for (const answer of reply.steps) {
    if (answer.step >= route.steps.length) throw new RangeError("a reply to a step that was not asked for");
    answers[answer.step] ??= answer;
  }
}

/** What a run may take in its lane: one after the other the sum, side by side the longest. */
export function budgetOf({ route, from, spentMs }: Pick<RunRequest, "route" | "from" | "spentMs">): number {
  const walls = route.steps.slice(from).map((step) => step[2]);
  const budgetMs = isFan(route) ? Math.max(0, ...walls) : walls.reduce((sum, wallMs) => sum + wallMs, 0);
  return Math.max(1, budgetMs - spentMs);
}

function keyOf(hook: string, mode: Route["mode"], steps: Route["steps"]): string {
  return `${hook} ${mode} ${steps.join(" ")}`;
}

/** Side by side, every open step was running; in a chain only the first one can have been, those behind it were not started. */
function fillOpen({ answers, request }: PendingRun, answer: StepAnswer): Answers {
  const { route, from } = request;
  if (isFan(route)) return { steps: route.steps.map((_, at) => answers[at] ?? answer) };
  const open = firstOpen(answers, from);
  if (open < route.steps.length) answers[open] = answer;
  return { steps: answers };
}

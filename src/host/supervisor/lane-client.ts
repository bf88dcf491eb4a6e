/**
 * Trusted side: the host's view of one lane. It outlives the thread or process behind it: runs that were not sent when
 * that was lost go to the replacement, runs that were sent and not answered are settled by unit-loss.ts. This is where
 * everything a lane sends is checked.
 */
import { errorMessage } from "../../protocol/errors.ts";
import { pack, unpack } from "../../transport/frames.ts";
import { isCallFrame, readReply, callFrame } from "../../transport/call-frames.ts";
import type { CallReply } from "../../transport/call-frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Link } from "../../transport/link.ts";
import { laneMessage } from "../../protocol/messages/host-lane.ts";
import type { HostMessage, LaneMessage, Route } from "../../protocol/messages/host-lane.ts";
import { afterLoss } from "./unit-loss.ts";
import type { UnitLoss } from "./unit-loss.ts";
import { Inbox } from "./inbox.ts";
import { LaneRoutes, longestReply, takeReply } from "./lane-run.ts";
import type { Answers, PendingRun, Receiver, RunRequest } from "./lane-run.ts";
import { Outbox } from "./outbox.ts";
import { Overdue } from "./overdue.ts";
import { PendingRuns } from "./pending-runs.ts";
import { UnawaitedRuns } from "./unawaited-runs.ts";

export type { Answers, Receiver, RunRequest, StepAnswer } from "./lane-run.ts";

export interface LaneEvents {
  message(message: LaneMessage, bodies: string[]): void;
  /** Was the lane seen inside a turn in the last milliseconds? */
  isInTurn(withinMs: number): boolean;
  /** The lane is unusable: its unit has to be replaced. */
  replace(why: string): void;
  /** Its link has ended. `isBroken`: the lane broke the rules; otherwise it is gone. */
  ended(why: string, isBroken: boolean): void;
}

export class LaneClient {
  readonly index: number;
  /** For a plugin that is inspected: nothing in it is ever late. */
  readonly isDebug: boolean;
  readonly #events: LaneEvents;
  readonly #pending = new PendingRuns<PendingRun>();
  readonly #unawaited = new UnawaitedRuns();
  readonly #routes = new LaneRoutes();
  #link: Link | undefined;
  #generation = 0;
  readonly #outbox = new Outbox(this.#pending, () => this.#pending.size > 0 && this.#overdue.watch());
  readonly #inbox = new Inbox({ receive: (frame) => this.#receive(frame), isChoked: () => this.#outbox.isChoked });
  readonly #overdue: Overdue;

  constructor(index: number, events: LaneEvents, isDebug = false) {
    this.index = index;
    this.isDebug = isDebug;
    this.#events = events;
    this.#overdue = new Overdue({
      pending: this.#pending,
      outbox: this.#outbox,
      isTimeless: isDebug,
      kick: () => this.#link?.kick?.(),
      settle: (run, answers) => {
        this.#unawaited.add(run);
        this.#settle(run, answers);
      },
      isInTurn: (withinMs) => this.#events.isInTurn(withinMs),
      replace: (why) => this.#events.replace(why),
    });
  }

  /** A thread or process has started. `first` goes ahead of everything that waits. */
  connect(link: Link, first: readonly string[]): void {
    this.#link = link;
    this.#generation += 1;
    this.#outbox.connect(link);
    this.#inbox.connect(link);
    link.onFrames((frames) => {
      // A unit that was given up may still send something.
      if (this.#link !== link) return;
      this.#overdue.messages += 1;
      this.#inbox.read(frames, link);
    });
    link.onEnd((why, isBroken) => this.#link === link && this.#events.ended(why, isBroken));
    link.send([...first, ...this.#routes.announceAll().map((route) => pack(route))]);
    link.limitReplies?.(longestReply(this.#routes.all()));
  }

  /** The unit is about to be replaced: no further run is sent to it, and it may answer those it has. */
  hold(): void {
    this.#outbox.hold();
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  /** Counts the units behind this lane: a new one knows nothing of what the last one was told. */
  get generation(): number {
    return this.#generation;
  }

  /** Has the lane said that it is ready? */
  get isReady(): boolean {
    return this.#outbox.isReady;
  }

  /** Runs that are in the lane, or wait to be sent to it. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Has the lane runs that it has not answered? */
  get isBusy(): boolean {
    return this.#pending.all().some(({ isSent }) => isSent);
  }

  /** Has the lane a run that it should have answered a while ago? */
  get isOverdue(): boolean {
    return this.#overdue.isOverdue;
  }

  /** The runs that are in the lane, or wait to be sent to it. */
  inputs(): object[] {
    return this.#pending.all().flatMap(({ receiver }) => receiver.input ?? []);
  }

  /** The same of one run; undefined: it is not in this lane. */
  inputOf(run: number): object | undefined {
    return this.#pending.get(run)?.receiver.input;
  }

  /** CPU budget of a step of a run; undefined: the run is not in this lane. */
  cpuMsOf(run: number, step: number): number | undefined {
    return this.#pending.get(run)?.request.route.steps[step]?.[3];
  }

  /** Has the lane answered that step? A run that the host has given up, or that was cancelled, may still be in its turn. */
  isAnswered(run: number, step: number): boolean {
    const pending = this.#pending.get(run);
    return pending ? pending.answers[step] !== undefined : !this.#unawaited.isOpen(run, step);
  }

  /** The unit is lost, or is given up. */
  disconnect(loss: UnitLoss): void {
    this.#link = undefined;
    this.#inbox.disconnect();
    this.#overdue.stop();
    this.#unawaited.clear();
    this.#routes.disconnect();
    const pending = this.#pending.all();
    const sent = pending.filter((run) => run.isSent);
    const isUnbegun = ({ id }: PendingRun): boolean => loss.begun !== undefined && id > loss.begun;
    this.#outbox.disconnect(sent.filter(isUnbegun));
    for (const run of loss.isFinal ? pending : sent) {
      if (isUnbegun(run)) continue;
      const timedMs = run.timedSinceMs === 0 ? 0 : Math.ceil(performance.now() - run.timedSinceMs);
      this.#settle(run, afterLoss({ ...run, spentMs: timedMs + LIMITS.call.youngRunMs }, loss));
    }
  }

  /**
   * A plugin has moved to another lane: runs through its cell that were not sent go back to their receivers, which send
   * them there.
   */
  evict(cell: number): void {
    for (const run of this.#pending.all()) {
      if (run.isSent || !run.request.route.steps.some((step) => step[0] === cell)) continue;
      this.#outbox.withdraw(run);
      const { attempt, spentMs, from } = run.request;
      this.#settle(run, { steps: [], retry: { spentMs, until: attempt > 1 ? from : from - 1 } });
    }
  }

  /** A cell is gone for good. */
  forget(cell: number): void {
    this.#routes.forget(cell);
    this.post({ kind: "drop", cell });
  }

  post(message: HostMessage, ...bodies: string[]): void {
    this.postFrame(pack(message, ...bodies));
  }

  /** Dropped if no unit is connected: the next one learns everything from its greeting. */
  postFrame(frame: string): void {
    if (this.#link) this.#outbox.push(frame);
  }

  route(hook: string, mode: Route["mode"], steps: Route["steps"]): Route {
    return this.#routes.get(hook, mode, steps);
  }

  /** Runs handlers in this lane. Gives the number to cancel the run by. */
  run(request: RunRequest, receiver: Receiver): number {
    const id = this.#pending.nextId();
    const { route } = request;
    if (!this.#routes.isAnnounced(route)) this.#announce(route);
    const run: PendingRun = {
      id,
      request,
      answers: [],
      receiver,
      frame: callFrame(id, route.route, request),
      timedSinceMs: 0,
      isSent: false,
      chars: 0,
      isPartlyAnswered: false,
      settled: undefined,
    };
    this.#pending.add(run);
    this.#outbox.push(run);
    // A run that is about to be sent is watched once it is on its way: setting the timer would only delay it.
    if (!this.#outbox.isReady) this.#overdue.watch();
    return id;
  }

  /**
   * Resolves when the lane has done what was posted before, or has gone: sends a run without handlers there and back.
   */
  reached(): Promise<void> {
    if (!this.isReady) return Promise.resolve();
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
    if (!run.isSent) return this.#outbox.withdraw(run);
    this.#unawaited.add(run);
    this.post({ kind: "cancel", id });
  }

  /** A unit that is not connected yet is told when it connects. */
  #announce(route: Route): void {
    this.#routes.keep(route);
    if (!this.#link) return;
    this.#routes.announced(route);
    this.post(route);
    // SECURITY: a reply that no plugin may give is not even buffered. test/attacks/evil-child.ts
    this.#link.limitReplies?.(longestReply(this.#routes.all()));
  }

  #settle(run: PendingRun, answers: Answers): void {
    if (!this.#pending.delete(run.id)) return;
    run.settled?.();
    if (this.#pending.size === 0 && !this.#outbox.isPolling) this.#overdue.rest();
    run.receiver.answered(answers, this);
  }

  /** True: it was the last reply to a run. */
  #receive(frame: string): boolean {
    try {
      if (isCallFrame(frame)) return this.#reply(readReply(frame));
      const { header, bodies } = unpack(frame, LIMITS.frames.headerChars);
      const message = laneMessage.parse(header);
      this.#events.message(message, bodies);
      if (message.kind === "ready") this.#outbox.ready();
    } catch (error) {
      // SECURITY: a lane that breaks the protocol is replaced. test/host/supervisor/lane-client.test.ts
      this.#events.replace(errorMessage("ERR_SANDBOX_PROTOCOL", { detail: error instanceof Error ? error.message : String(error) }));
    }
    return false;
  }

  #reply(reply: CallReply): boolean {
    const run = this.#pending.get(reply.id);
    if (!run) {
      this.#unawaited.answered(reply);
      return false;
    }
    run.chars = takeReply(reply, run.request.route, run.answers, run.chars);
    if (reply.isLast) {
      this.#overdue.answered += 1;
      this.#settle(run, { steps: run.answers, lane: this.index, attempt: run.request.attempt });
    } else run.isPartlyAnswered = true;
    return reply.isLast;
  }
}

/**
 * Trusted side: a run in one lane: what the host asks for, what the lane answers, and how much time it has. Lane
 * answers are untrusted.
 */
import type { CallReply, CallRequest, StepReply } from "../../transport/call-frames.ts";
import type { Frame } from "../../transport/frames.ts";
import type { Route } from "../../protocol/messages/host-lane.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { resultRefusal } from "../../transport/result-bounds.ts";
import type { LaneClient } from "./lane-client.ts";
import { firstOpen, isFan } from "./unit-loss.ts";

/** How one step of a run ended. The body is a result or an error, as the guest wrote it. */
export type StepAnswer = Omit<StepReply, "step">;

/** What a lane answered. */
export interface Answers {
  /** By position in the route. Undefined for steps before `from`, and for those that the lane left to the host. */
  readonly steps: readonly (StepAnswer | undefined)[];
  /**
   * The unit was lost through no fault of theirs: the host has to retry the steps without an answer, up to this one.
   */
  readonly retry?: { readonly spentMs: number; readonly until: number };
  /** Where it was, and for how many-th time. Missing: the host answered by itself. */
  readonly lane?: number;
  readonly attempt?: number;
}

export type RunRequest = Omit<CallRequest, "id" | "route"> & { readonly route: Route; readonly attempt: number };

/** The code that started a run. It is called exactly once, unless it cancelled the run. */
export interface Receiver {
  /** The run that this is a part of. */
  readonly input?: object;
  answered(answers: Answers, lane: LaneClient): void;
}

export interface PendingRun {
  readonly id: number;
  readonly request: RunRequest;
  readonly answers: (StepAnswer | undefined)[];
  readonly receiver: Receiver;
  readonly frame: Frame;
  /** When the host began to time it (overdue.ts); 0: it is too young for that. */
  timedSinceMs: number;
  isSent: boolean;
  /** Characters of the answers so far. */
  chars: number;
  /** A reply came that was not the last: the lane sends one when it is about to enter, or waits for, the next step. */
  isPartlyAnswered: boolean;
  /** Stops its timer, once it has one. */
  settled: (() => void) | undefined;
}

/**
 * Puts a reply's steps where they belong. Throws when the lane answers a step that the route does not have, or more than
 * its cells may, or a result that it should have refused. `chars`: what earlier replies to the run have brought; gives it with this one.
 * SECURITY: the host keeps all of it until the last reply, and parses results. test/host/supervisor/lane-client.test.ts
 */
export function takeReply(reply: CallReply, route: Route, answers: (StepAnswer | undefined)[], chars: number): number {
  let sum = chars;
  for (const answer of reply.steps) {
    const step = route.steps[answer.step];
    if (!step) throw new RangeError("a reply to a step that was not asked for");
    if (answer.status === "ok" && resultRefusal(answer.body, step[4])) throw new RangeError("a result beyond its bounds");
    answers[answer.step] ??= answer;
    sum += answer.body.length;
  }
  if (sum > LIMITS.frames.answersChars && sum > mostChars(route)) throw new RangeError("replies that are too long in total");
  return sum;
}

/** See hop.ts in src/sandbox/lane. */
function mostChars({ steps }: Route): number {
  return new Set(steps.map(([cell]) => cell)).size * (LIMITS.call.eventBytes + LIMITS.call.resultBytes);
}

/**
 * The longest reply of a lane with these routes: hop.ts in src/sandbox/lane sends what it has when it has this many characters, and then
 * there is one more result.
 */
export function longestReply(routes: Iterable<Route>): number {
  let result = 0;
  for (const { steps } of routes) for (const [, , , , bytesOut] of steps) result = Math.max(result, bytesOut);
  return LIMITS.frames.replyHeadChars + BYTES_PER_CHAR * LIMITS.call.resultBytes + Math.max(result, LIMITS.call.errorBytes);
}

/** The most that UTF-8 takes for a character of a text. */
const BYTES_PER_CHAR = 3;

/**
 * Wall time that a run may take in its lane: the sum of its steps, or the longest one if they run side by side. Where
 * the gateway blocks, all steps of a plugin have the time of one.
 */
export function budgetOf({ route, from, spentMs }: Pick<RunRequest, "route" | "from" | "spentMs">): number {
  const steps = route.steps.slice(from);
  const walls = steps.map((step) => step[2]);
  const budgetMs = isFan(route) ? Math.max(0, ...walls) : sumOf(route.mode === "sync" ? longestByCell(steps) : walls);
  return Math.max(1, budgetMs - spentMs);
}

function longestByCell(steps: Route["steps"]): Iterable<number> {
  const longest = new Map<number, number>();
  for (const [cell, , wallMs] of steps) longest.set(cell, Math.max(longest.get(cell) ?? 0, wallMs));
  return longest.values();
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

/**
 * Answers the steps that were running. Side by side that is every open step, in a chain only the first: later ones had
 * not started.
 */
export function fillOpen({ answers, request }: PendingRun, answer: StepAnswer): Answers {
  const { route, from } = request;
  if (isFan(route)) return { steps: route.steps.map((_, at) => answers[at] ?? answer) };
  const open = firstOpen(answers, from);
  // A copy: what the lane itself has answered stays known.
  return { steps: open < route.steps.length ? Object.assign([...answers], { [open]: answer }) : answers };
}

/**
 * The routes of one lane. A route is a list of handlers that run together; the lane is told of it once, and runs then
 * name it by number.
 */
export class LaneRoutes {
  readonly #routes = new Map<string, Route>();
  /** Routes that the unit which is connected at present knows. */
  readonly #announced = new Set<number>();
  #next = 0;

  get(hook: string, mode: Route["mode"], steps: Route["steps"]): Route {
    const key = keyOf(hook, mode, steps);
    let route = this.#routes.get(key);
    if (!route) {
      route = { kind: "route", route: this.#next++, hook, mode, steps };
      this.#routes.set(key, route);
    }
    return route;
  }

  isAnnounced({ route }: Route): boolean {
    return this.#announced.has(route);
  }

  /** Keeps a route for the units to come. */
  keep(route: Route): void {
    this.#routes.set(keyOf(route.hook, route.mode, route.steps), route);
  }

  announced({ route }: Route): void {
    this.#announced.add(route);
  }

  /** All routes, for a unit that has just connected. */
  announceAll(): Route[] {
    const routes = [...this.#routes.values()];
    for (const route of routes) this.announced(route);
    return routes;
  }

  disconnect(): void {
    this.#announced.clear();
  }

  all(): Iterable<Route> {
    return this.#routes.values();
  }

  /** A cell is gone for good, and with it the routes through it. */
  forget(cell: number): void {
    for (const [key, { route, steps }] of this.#routes) {
      if (!steps.some((step) => step[0] === cell)) continue;
      this.#routes.delete(key);
      this.#announced.delete(route);
    }
  }
}

function keyOf(hook: string, mode: Route["mode"], steps: Route["steps"]): string {
  return `${hook} ${mode} ${steps.join(" ")}`;
}

/**
 * The benign load: so many calls a second by the clock, whether or not the ones before were answered, each answer compared with
 * the right one. What happens is written to the tally of the moment, so that every attack has its own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "creel";
import { askLedger, BENIGN_CALLS, mistake, OBSERVED } from "./benign.ts";
import type { BenignCall } from "./benign.ts";

/** A call that has not been answered by then is lost. */
export const LOST_MS = 30_000;
/** Examples of wrong answers that a tally keeps. */
const EXAMPLES = 3;
const TICK_MS = 2;

export interface Tally {
  sent: number;
  right: number;
  /** Answered, but not with the right answer. */
  wrong: number;
  /** Of the wrong ones, those that stopped something. */
  blocked: number;
  lost: number;
  /** Handlers that were called again because the sandbox died under them. */
  retried: number;
  latenciesMs: number[];
  examples: string[];
}

export interface Answer {
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly isRight: boolean;
}

export function emptyTally(): Tally {
  return { sent: 0, right: 0, wrong: 0, blocked: 0, lost: 0, retried: 0, latenciesMs: [], examples: [] };
}

/** Several, as one. */
export function merged(tallies: readonly Tally[]): Tally {
  const sum = (pick: (tally: Tally) => number): number => tallies.reduce((all, tally) => all + pick(tally), 0);
  return {
    sent: sum(({ sent }) => sent),
    right: sum(({ right }) => right),
    wrong: sum(({ wrong }) => wrong),
    blocked: sum(({ blocked }) => blocked),
    lost: sum(({ lost }) => lost),
    retried: sum(({ retried }) => retried),
    latenciesMs: tallies.flatMap(({ latenciesMs }) => latenciesMs),
    examples: tallies.flatMap(({ examples }) => examples).slice(0, EXAMPLES),
  };
}

/** What the observer said, how many observations were answered before it was asked, and how many sent when it had said it. */
interface LedgerPage {
  readonly born: number;
  readonly count: number;
  readonly answeredBefore: number;
  readonly sentAfter: number;
}

export class BenignLoad {
  tally = emptyTally();
  readonly #host: Host;
  readonly #perSecond: number;
  readonly #open = new Set<{ readonly tally: Tally; readonly answered: Promise<void> }>();
  #timer: NodeJS.Timeout | undefined;
  #startedMs = 0;
  #sent = 0;
  /** Numbers of calls are never used twice, so that an answer to another call is a wrong one. */
  #next = 0;
  #observed = { sent: 0, answered: 0 };
  #page: LedgerPage | undefined;
  readonly #onAnswer = new Set<(answer: Answer) => void>();

  constructor(host: Host, perSecond: number) {
    this.#host = host;
    this.#perSecond = perSecond;
  }

  get sent(): number {
    return this.#next;
  }

  start(): void {
    this.#startedMs = performance.now();
    this.#sent = 0;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** No calls for a while: resolves when all are answered. `start` goes on. */
  async pause(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#open].map((call) => call.answered));
  }

  /** Resolves when all calls that are open now are answered. Others go on. */
  async settled(): Promise<void> {
    await Promise.all([...this.#open].map((call) => call.answered));
  }

  /** The first answer that passes the test. */
  async answer(test: (answer: Answer) => boolean): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const listener = (answer: Answer): void => void (test(answer) && resolve(answer));
    this.#onAnswer.add(listener);
    return promise.finally(() => this.#onAnswer.delete(listener));
  }

  /** A tally of the next so many calls, complete when all are answered. */
  async window(calls: number): Promise<Tally> {
    const tally = emptyTally();
    this.tally = tally;
    await this.answer(() => tally.sent >= calls);
    this.tally = emptyTally();
    if (tally.right + tally.wrong < tally.sent) await this.answer(() => tally.right + tally.wrong >= tally.sent);
    return tally;
  }

  /** No further calls; resolves when all are answered, or the last has had its time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const patience = new AbortController();
    const answered = Promise.all([...this.#open].map((call) => call.answered));
    await Promise.race([answered, sleep(LOST_MS, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    for (const { tally } of this.#open) tally.lost += 1;
    this.#open.clear();
  }

  /** One call of every kind, and a look into the observer's book. Resolves when all are answered, or lost. */
  async probe(): Promise<void> {
    const calls = BENIGN_CALLS.map((call) => this.#send(call));
    const patience = new AbortController();
    const late = sleep(LOST_MS, undefined, { signal: patience.signal }).catch(() => {});
    await Promise.race([Promise.all([...calls, this.#audit()]), late]);
    patience.abort();
  }

  #tick(): void {
    const due = Math.floor(((performance.now() - this.#startedMs) * this.#perSecond) / 1_000);
    for (; this.#sent < due; this.#sent++) void this.#send(BENIGN_CALLS[this.#sent % BENIGN_CALLS.length]!);
  }

  #send(call: BenignCall): Promise<void> {
    const entry = { tally: this.tally, answered: this.#call(call, this.#next++, this.tally) };
    this.#open.add(entry);
    return entry.answered.finally(() => this.#open.delete(entry));
  }

  async #call(call: BenignCall, n: number, tally: Tally): Promise<void> {
    tally.sent += 1;
    if (call.name === OBSERVED) this.#observed.sent += 1;
    const sentMs = performance.now();
    let wrong: string | undefined;
    let isBlocked = false;
    try {
      const outcome = await call.run(this.#host, n);
      wrong = mistake(call, n, outcome);
      isBlocked = wrong !== undefined && outcome.decision === "block";
    } catch (error) {
      wrong = `${call.name}: rejected with ${String(error)}`;
    }
    const tookMs = performance.now() - sentMs;
    if (tookMs > LOST_MS) {
      tally.lost += 1;
      return;
    }
    tally.latenciesMs.push(tookMs);
    if (wrong === undefined) tally.right += 1;
    else {
      tally.wrong += 1;
      if (tally.examples.length < EXAMPLES) tally.examples.push(wrong);
    }
    if (isBlocked) tally.blocked += 1;
    if (call.name === OBSERVED && wrong === undefined) this.#observed.answered += 1;
    const answer = { sentMs, answeredMs: performance.now(), isRight: wrong === undefined };
    for (const listener of this.#onAnswer) listener(answer);
  }

  /** An observation that was answered must be in the book, once, as long as the book is the same. The question itself is a benign call. */
  async #audit(): Promise<void> {
    const { tally } = this;
    tally.sent += 1;
    const answeredBefore = this.#observed.answered;
    let wrong: string | undefined;
    try {
      const { born, count } = await askLedger(this.#host);
      const page = { born, count, answeredBefore, sentAfter: this.#observed.sent };
      if (this.#page?.born === born) wrong = disagreement(this.#page, page);
      this.#page = page;
    } catch (error) {
      wrong = String(error);
    }
    if (wrong === undefined) tally.right += 1;
    else {
      tally.wrong += 1;
      tally.examples.push(`ledger: ${wrong}`);
    }
  }
}

/** Between two looks the observer has counted at least what was sent and answered in between, and at most what could have come in. */
function disagreement(last: LedgerPage, page: LedgerPage): string | undefined {
  const [least, most] = [page.answeredBefore - last.sentAfter, page.sentAfter - last.answeredBefore];
  const counted = page.count - last.count;
  return counted >= least && counted <= most ? undefined : `${counted} observations instead of ${least} to ${most}`;
}

/**
 * Trusted side: what one plugin's requests cost the gateway's thread. The host measures the time it works for them, by the
 * clock and, where that is long, by the thread's CPU time: no plugin pays for a CPU that the thread did not get. It is added to two levels. One level falls at the rate that the plugin may use over time. The other falls at half of the
 * thread's time, so that the plugin cannot use its share in one burst. While either level is above its mark, the
 * plugin's requests wait in order, one for each turn of the event loop; a request that waits too long fails. A call
 * that makes no request is never measured.
 */
import { LIMITS } from "../../protocol/limits.ts";

export interface GatewayTimeReport {
  /** Milliseconds of the thread per second that its requests may take. */
  readonly limitMs: number;
  /** What its requests have taken so far. */
  readonly spentMs: number;
  /** Requests that waited, and requests that failed because they waited too long or were too many. */
  readonly delayed: number;
  readonly failed: number;
}

interface Waiting {
  readonly sinceMs: number;
  readonly chars: number;
  readonly isOwed: boolean;
  readonly go: (isInTime: boolean) => void;
}

/** The whole thread. */
const NO_LIMIT_MS = 1_000;
/** In a burst, half of the thread stays free for others. */
const SPRINT_SHARE = 0.5;

/**
 * Work that takes longer by the clock may have waited for a CPU, in which case the waiting is most of it. The kernel brings the thread's CPU
 * time up to date with every tick and every switch, so a reading misses up to some milliseconds: on average, the second number.
 */
const DOUBTFUL_MS = 2;
const UNREAD_MS = 1;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Nested work counts once. All of it is synchronous, so one flag per thread is enough. */
let isMeasuring = false;

export class GatewayTime {
  readonly #now: () => number;
  readonly #cpuMs: (() => number) | undefined;
  #limitMs: number;
  #levelMs = 0;
  #sprintMs = 0;
  #atMs: number;
  #queue: Waiting[] = [];
  #queuedChars = 0;
  #clock: NodeJS.Timeout | undefined;
  #isEnded = false;
  #spentMs = 0;
  #delayed = 0;
  #failed = 0;

  /** `now`: a clock of a test, which measures no CPU time unless `cpuMs` does. */
  constructor(limitMs: number = LIMITS.gateway.msPerSecond, now?: () => number, cpuMs?: () => number) {
    this.#limitMs = limitMs;
    this.#now = now ?? (() => performance.now());
    this.#cpuMs = cpuMs ?? (now ? undefined : threadCpuMs);
    this.#atMs = this.#now();
  }

  /** A new version of the plugin may have another limit. */
  allow(limitMs: number): void {
    this.#limitMs = limitMs;
  }

  /** Does synchronous work for the plugin and charges the time to it. */
  measure<T>(work: () => T): T {
    if (isMeasuring) return work();
    isMeasuring = true;
    const startedCpuMs = this.#cpuMs?.() ?? 0;
    const startedMs = this.#now();
    try {
      return work();
    } finally {
      isMeasuring = false;
      this.#charge(startedMs, this.#now(), startedCpuMs);
    }
  }

  /** Charges text from or to the plugin's lane: reading, decoding and writing it happens where nothing is measured. */
  carried(chars: number): void {
    if (chars >= LIMITS.gateway.freeChars) this.#add(chars / LIMITS.gateway.charsPerMs);
  }

  /** The plugin is so far over its limit that even its calls may fail: see host/run/answer.ts. */
  get isExhausted(): boolean {
    return this.#levelMs > LIMITS.gateway.debtMs && this.#level(this.#now()) > LIMITS.gateway.debtMs;
  }

  /** Whether the next request has to wait. */
  get isOver(): boolean {
    if (this.#isEnded || this.#limitMs >= NO_LIMIT_MS) return false;
    if (this.#queue.length > 0) return true;
    return (this.#levelMs > LIMITS.gateway.burstMs || this.#sprintMs > LIMITS.gateway.sprintMs) && this.#overForMs(this.#now()) > 0;
  }

  /** Whether the queue may keep this much more text. */
  hasRoom(chars: number): boolean {
    return this.#queuedChars + chars <= LIMITS.gateway.queueChars;
  }

  /**
   * Queues a request that found `isOver`. False: it waited too long and must fail; an owed request never does. Does not
   * check the clock again: the next request would overtake one that is let through here, a promise later.
   */
  turn(chars = 0, isOwed = false): Promise<boolean> {
    this.#delayed += 1;
    this.#queuedChars += chars;
    return new Promise((go) => {
      this.#queue.push({ sinceMs: this.#now(), chars, isOwed, go });
      this.#wait();
    });
  }

  /** A request was refused for lack of time. */
  refused(): void {
    this.#failed += 1;
  }

  /** The host closes: lets all waiting requests through. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#clock);
    for (const { go } of this.#queue) go(true);
    this.#queue = [];
    this.#queuedChars = 0;
  }

  report(): GatewayTimeReport {
    return { limitMs: this.#limitMs, spentMs: Math.round(this.#spentMs * 10) / 10, delayed: this.#delayed, failed: this.#failed };
  }

  #charge(startedMs: number, endedMs: number, startedCpuMs: number): void {
    this.#level(endedMs);
    const ms = endedMs - startedMs;
    this.#add(ms < DOUBTFUL_MS || !this.#cpuMs ? ms : Math.min(ms, this.#cpuMs() - startedCpuMs + UNREAD_MS));
  }

  #add(ms: number): void {
    this.#levelMs += ms;
    this.#sprintMs += ms;
    this.#spentMs += ms;
  }

  #level(nowMs: number): number {
    const passedMs = nowMs - this.#atMs;
    this.#levelMs = Math.max(0, this.#levelMs - (passedMs * this.#limitMs) / 1000);
    this.#sprintMs = Math.max(0, this.#sprintMs - passedMs * SPRINT_SHARE);
    this.#atMs = nowMs;
    return this.#levelMs;
  }

  /** Time until both levels have fallen to their marks; 0 or less: they have. */
  #overForMs(nowMs: number): number {
    const levelMs = this.#level(nowMs);
    return Math.max(((levelMs - LIMITS.gateway.burstMs) * 1000) / this.#limitMs, (this.#sprintMs - LIMITS.gateway.sprintMs) / SPRINT_SHARE);
  }

  #wait(): void {
    if (this.#clock || this.#queue.length === 0) return;
    // Wait at least one turn of the event loop, so that others come between two of its requests.
    this.#clock = setTimeout(this.#next, Math.max(1, Math.ceil(this.#overForMs(this.#now()))));
  }

  readonly #next = (): void => {
    this.#clock = undefined;
    const nowMs = this.#now();
    if (this.#overForMs(nowMs) <= 0) this.#release(nowMs);
    this.#wait();
  };

  #release(nowMs: number): void {
    // A request that is too late costs almost nothing, so the next one need not wait for it.
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      this.#queuedChars -= next.chars;
      const isInTime = next.isOwed || nowMs - next.sinceMs <= LIMITS.gateway.waitMs;
      next.go(isInTime);
      if (isInTime) return;
    }
  }
}

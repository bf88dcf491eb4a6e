/**
 * Trusted side: delivers the rows of the outbox: in order per plugin and session, a few at a time per plugin, at least once. A failed row
 * is tried again after a pause, and later rows of its session wait behind it. It is given up by age, not by count; only a row that takes
 * the sandbox or a budget with it is given up after its second attempt, so that it does not cost other events their host.
 */
import { LIMITS } from "../../protocol/limits.ts";
import { RateWindow } from "../../protocol/rules/rate-window.ts";
import type { HostEvents } from "../report/events.ts";
import type { Logger } from "../report/log.ts";
import type { Outbox, Waiting } from "./outbox.ts";
import type { DeliveryRow } from "./outbox-tables.ts";
import { GONE, isTooOld, judged, pauseAfter, tellDelivery } from "./verdict.ts";
import type { Calls } from "./verdict.ts";

export interface DeliveriesOptions {
  readonly outbox: Outbox;
  readonly events: HostEvents;
  readonly logger: Logger;
  readonly now: () => number;
  /** Calls the plugin's handlers. "sent": others keep the event from now on. "held": they do not take it now. */
  deliver(row: DeliveryRow): Promise<Calls | "sent" | "held">;
  /** Nothing is to be begun now: `resume` says when. */
  isHeld?(): boolean;
}

/** The rows of one plugin and session, in order. */
interface Line {
  readonly plugin: string;
  readonly rows: Waiting[];
  /** Its first row is being delivered, or waits for its pause to end. */
  isBusy: boolean;
}

interface Recipient {
  readonly lines: Map<string, Line>;
  readonly ready: Line[];
  running: number;
  readonly told: RateWindow;
}

export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #recipients = new Map<string, Recipient>();
  readonly #known = new Set<number>();
  readonly #pauses = new Map<NodeJS.Timeout, Line>();
  #looking: NodeJS.Timeout | undefined;
  #running = 0;
  #idle: (() => void) | undefined;
  #isOpen = false;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** Takes up what is left of earlier lives, and looks for it again from time to time. */
  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#look();
  }

  /** Rows that were just committed. */
  take(rows: readonly Waiting[]): void {
    for (const row of rows) {
      if (this.#known.has(row.seq)) continue;
      this.#known.add(row.seq);
      const recipient = this.#recipientOf(row.plugin);
      let line = recipient.lines.get(row.session);
      if (!line) recipient.lines.set(row.session, (line = { plugin: row.plugin, rows: [], isBusy: false }));
      const isInOrder = (line.rows.at(-1)?.seq ?? 0) < row.seq;
      line.rows.push(row);
      // Taken over from another host. The first one may be on its way: it stays first.
      if (!isInOrder)
        line.rows.splice(line.isBusy ? 1 : 0, Infinity, ...line.rows.slice(line.isBusy ? 1 : 0).toSorted((a, b) => a.seq - b.seq));
      if (!line.isBusy && line.rows.length === 1) recipient.ready.push(line);
    }
    if (this.#isOpen) for (const row of rows) this.#pump(this.#recipientOf(row.plugin));
  }

  /** A plugin was loaded or released: what waits for it need not wait for its pause to end. */
  wake(plugin: string): void {
    for (const [timer, line] of this.#pauses)
      if (line.plugin === plugin) {
        clearTimeout(timer);
        this.#again(timer, line);
      }
  }

  /** What was held need not wait any more. */
  resume(): void {
    for (const [timer, line] of this.#pauses) {
      clearTimeout(timer);
      this.#again(timer, line);
    }
    for (const recipient of this.#recipients.values()) this.#pump(recipient);
  }

  /** Begins nothing more. */
  stop(): void {
    this.#isOpen = false;
    clearTimeout(this.#looking);
    for (const timer of this.#pauses.keys()) clearTimeout(timer);
    this.#pauses.clear();
  }

  /** Resolves when what has begun is settled. */
  async settled(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #recipientOf(plugin: string): Recipient {
    let recipient = this.#recipients.get(plugin);
    if (!recipient) {
      recipient = { lines: new Map(), ready: [], running: 0, told: new RateWindow(1, LIMITS.outbox.tellMs) };
      this.#recipients.set(plugin, recipient);
    }
    return recipient;
  }

  async #look(): Promise<void> {
    try {
      const rows = await this.#options.outbox.adopt();
      if (this.#isOpen) this.take(rows);
    } catch {
      // The database has logged why; look again later.
    }
    if (!this.#isOpen) return;
    this.#looking = setTimeout(() => void this.#look(), LIMITS.outbox.lookMs);
    // What waits does not keep the gateway's process alive.
    this.#looking.unref();
  }

  #pump(recipient: Recipient): void {
    while (this.#isOpen && recipient.running < LIMITS.outbox.atOnce && this.#options.isHeld?.() !== true) {
      const line = recipient.ready.shift();
      if (!line) return;
      line.isBusy = true;
      recipient.running += 1;
      this.#running += 1;
      void this.#do(recipient, line).finally(() => {
        recipient.running -= 1;
        this.#running -= 1;
        this.#pump(recipient);
        if (this.#running === 0) this.#idle?.();
      });
    }
  }

  /** Never rejects. */
  async #do(recipient: Recipient, line: Line): Promise<void> {
    const [head] = line.rows;
    try {
      const row = await this.#options.outbox.begin(head!.seq);
      // A person has dropped it.
      if (!row) return this.#next(recipient, line);
      const calls = await this.#options.deliver(row).catch(() => "waits" as const);
      const pauseMs = await this.#settle(recipient, row, calls);
      if (pauseMs === undefined) return this.#next(recipient, line);
      this.#pause(line, pauseMs);
    } catch {
      // The database has logged why. Whether the attempt was counted does not matter.
      this.#pause(line, LIMITS.outbox.lookMs);
    }
  }

  /** Returns the pause before the next attempt; undefined: it is done or given up. */
  async #settle(recipient: Recipient, row: DeliveryRow, calls: Calls | "sent" | "held"): Promise<number | undefined> {
    const { outbox, now, events } = this.#options;
    if (calls === "sent") {
      await outbox.delivered(row);
      return undefined;
    }
    if (calls === "held") {
      // However long that takes: it is not given up, since no handler was asked.
      await outbox.failed(row.seq, true, false);
      return LIMITS.outbox.lookMs;
    }
    const found = judged(calls, this.#isOpen);
    if (found.kind === "done" || found.kind === "gone") {
      await outbox.delivered(row);
      if (found.kind === "gone") tellDelivery(events, row, now(), "dropped", GONE);
      else tellDelivery(events, row, now(), "delivered");
      return undefined;
    }
    const { kind, status, why } = found;
    await outbox.failed(row.seq, kind === "waits", kind === "fatal");
    const ageMs = now() - row.made;
    if (isTooOld(ageMs) || (kind === "fatal" && row.fatal + 1 >= LIMITS.outbox.fatalAttempts)) {
      await outbox.giveUp(row.seq, { status, why, at: now() });
      tellDelivery(events, row, now(), "dead", why);
      if (recipient.told.admit())
        this.#options.logger.error(
          { plugin: row.plugin, hook: row.hook, delivery: row.id, attempts: row.attempt, detail: why },
          'an event was not delivered and is kept: see "creel dead list"',
        );
      return undefined;
    }
    if (kind === "waits") return LIMITS.outbox.lookMs;
    tellDelivery(events, row, now(), "failed", why);
    return pauseAfter(ageMs);
  }

  /** The line's first row is done. */
  #next(recipient: Recipient, line: Line): void {
    const done = line.rows.shift()!;
    this.#known.delete(done.seq);
    line.isBusy = false;
    if (line.rows.length > 0) recipient.ready.push(line);
    else recipient.lines.delete(done.session);
  }

  #pause(line: Line, ms: number): void {
    if (!this.#isOpen) return;
    const timer = setTimeout(() => this.#again(timer, line), ms);
    timer.unref();
    this.#pauses.set(timer, line);
  }

  #again(timer: NodeJS.Timeout, line: Line): void {
    this.#pauses.delete(timer);
    const recipient = this.#recipientOf(line.plugin);
    recipient.ready.push(line);
    this.#pump(recipient);
  }
}

/**
 * Trusted side: lines that wait to be written. A caller queues a function that makes the line, so making it costs the
 * caller nothing; the gateway's thread does it a few milliseconds at a time. Lines that find no room or cannot be
 * written are counted, and the count is logged.
 */
import { escapeInJson } from "../../protocol/dangerous-text.ts";
import { setImmediate as breath } from "node:timers/promises";
import { AUDIT_VERSION } from "../../protocol/audit-line.ts";
import type { AuditEntry } from "../../protocol/audit-line.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Logger } from "../report/log.ts";
import type { AuditSink } from "../stores.ts";

interface Waiting {
  readonly file: AuditSink;
  readonly atMs: number;
  /** The memory that it keeps alive, in characters. */
  readonly weight: number;
  readonly make: () => AuditEntry;
}

/** One listener per process writes what is left when the process ends. */
const open = new Set<LineQueue>();
const onExit = (): void => {
  for (const queue of open) queue.flushNow();
};

export class LineQueue {
  readonly #host: string;
  readonly #logger: Logger;
  /** Where dropped lines are noted. */
  readonly #notes: AuditSink;
  #queue: Waiting[] = [];
  #weight = 0;
  #dropped = 0;
  /** Since it was opened. */
  droppedInAll = 0;
  #droppedSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  /** Handed to the disk, not confirmed yet. */
  #underway: { readonly file: AuditSink; readonly text: string }[] = [];
  #hasComplained = false;

  constructor(host: string, notes: AuditSink, logger: Logger) {
    this.#host = host;
    this.#notes = notes;
    this.#logger = logger;
    if (open.size === 0) process.on("exit", onExit);
    open.add(this);
  }

  add(file: AuditSink, weight: number, make: () => AuditEntry): void {
    if (this.#queue.length >= LIMITS.audit.queue || this.#weight + weight > LIMITS.audit.queueChars) return this.#drop(1);
    this.#weight += weight;
    this.#queue.push({ file, atMs: Date.now(), weight, make });
    // More than a flush may wait for: half of the room is left for what comes meanwhile.
    if (this.#queue.length === LIMITS.audit.queue / 2) void this.flush();
    this.#timer ??= setTimeout(() => void this.flush(), LIMITS.audit.flushMs).unref();
  }

  /** Resolves when everything queued before is written or counted as dropped. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A flush that has begun may miss later lines.
    await this.#flushing;
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
    await this.#flushing;
  }

  async close(): Promise<void> {
    await this.flush();
    open.delete(this);
    if (open.size === 0) process.off("exit", onExit);
  }

  /** The process ends, so this must be synchronous. A line that was being written may appear twice. */
  flushNow(): void {
    for (const { file, text } of this.#underway) attempt(() => file.appendNow(text));
    for (const [file, lines] of this.#batch(Number.POSITIVE_INFINITY)) attempt(() => file.appendNow(lines.join("")));
  }

  async #flush(): Promise<void> {
    for (;;) {
      const batch = this.#batch(LIMITS.audit.sliceMs);
      if (batch.size === 0) return;
      this.#underway = Array.from(batch, ([file, lines]) => ({ file, text: lines.join("") }));
      let fault: unknown;
      for (const { file, text } of this.#underway) {
        try {
          await file.append(text);
        } catch (error) {
          this.#drop(batch.get(file)!.length);
          fault = error;
        }
      }
      this.#underway = [];
      if (fault !== undefined && !this.#hasComplained) this.#logger.error({ err: fault }, "audit log cannot be written");
      this.#hasComplained = fault !== undefined;
      // The disk will not recover at once; wait for the next flush.
      if (fault !== undefined) return;
      await breath();
    }
  }

  /** Makes lines of what is queued, by file, until the time is up. */
  #batch(sliceMs: number): Map<AuditSink, string[]> {
    const batch = new Map<AuditSink, string[]>();
    const put = (file: AuditSink, atMs: number, entry: AuditEntry): void => {
      const lines = batch.get(file);
      const line = lineOf(this.#host, atMs, entry);
      if (lines) lines.push(line);
      else batch.set(file, [line]);
    };
    const untilMs = performance.now() + sliceMs;
    let made = 0;
    for (const { file, atMs, weight, make } of this.#queue) {
      this.#weight -= weight;
      made += 1;
      try {
        put(file, atMs, make());
      } catch (error) {
        this.#drop(1);
        this.#logger.error({ err: error }, "audit line could not be made");
      }
      if (performance.now() > untilMs) break;
    }
    this.#queue = this.#queue.slice(made);
    if (this.#dropped > 0) {
      const since = new Date(this.#droppedSinceMs).toISOString();
      put(this.#notes, Date.now(), {
        kind: "dropped",
        count: this.#dropped,
        since,
        why: "the queue was full, or the disk refused them",
      });
      this.#dropped = 0;
    }
    return batch;
  }

  #drop(count: number): void {
    if (this.#dropped === 0) this.#droppedSinceMs = Date.now();
    this.#dropped += count;
    this.droppedInAll += count;
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The process is ending: there is nothing left to report to.
  }
}

/** SECURITY: `cat` shows whole lines, and each is one that Creel made. test/contract/audit.test.ts */
export function lineOf(host: string, atMs: number, entry: AuditEntry): string {
  const text = JSON.stringify({ v: AUDIT_VERSION, at: new Date(atMs).toISOString(), host, pid: process.pid, ...entry });
  return `${escapeInJson(text)}\n`;
}

/**
 * Trusted side: lines that wait to be written. Whoever has something to say leaves a function that says it: what that costs is not theirs, and the
 * gateway's thread does it a few milliseconds at a time. What finds no room, or cannot be written, is counted, and the count is written.
 */
import { setImmediate as breath } from "node:timers/promises";
import { AUDIT_VERSION } from "../../protocol/audit-line.ts";
import type { AuditEntry } from "../../protocol/audit-line.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Logger } from "../log.ts";
import type { AuditFile } from "./audit-file.ts";

interface Waiting {
  readonly file: AuditFile;
  readonly atMs: number;
  /** How much memory it keeps from being freed, in characters. */
  readonly weight: number;
  readonly make: () => AuditEntry;
}

/** One listener for all of a process: what was not written when it ends is written then. */
const open = new Set<Journal>();
const onExit = (): void => {
  for (const journal of open) journal.flushNow();
};

export class Journal {
  readonly #host: string;
  readonly #logger: Logger;
  /** Where it is said that lines were dropped. */
  readonly #notes: AuditFile;
  #queue: Waiting[] = [];
  #weight = 0;
  #dropped = 0;
  #droppedSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  /** Handed to the disk, which has not said that it has it. */
  #underway: { readonly file: AuditFile; readonly text: string }[] = [];
  #hasComplained = false;

  constructor(host: string, notes: AuditFile, logger: Logger) {
    this.#host = host;
    this.#notes = notes;
    this.#logger = logger;
    if (open.size === 0) process.on("exit", onExit);
    open.add(this);
  }

  add(file: AuditFile, weight: number, make: () => AuditEntry): void {
    if (this.#queue.length >= LIMITS.auditQueue || this.#weight + weight > LIMITS.auditQueueChars) return this.#drop(1);
    this.#weight += weight;
    this.#queue.push({ file, atMs: Date.now(), weight, make });
    this.#timer ??= setTimeout(() => void this.flush(), LIMITS.auditFlushMs).unref();
  }

  /** Resolves when all that was said before is written, or was counted as dropped. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // What was said since the one under way began may be missed by it.
    await this.#flushing;
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
    await this.#flushing;
  }

  async close(): Promise<void> {
    await this.flush();
    open.delete(this);
    if (open.size === 0) process.off("exit", onExit);
  }

  /** The process ends: nothing asynchronous happens any more. A line that was being written may then be there twice. */
  flushNow(): void {
    for (const { file, text } of this.#underway) attempt(() => file.appendNow(text));
    for (const [file, lines] of this.#batch(Number.POSITIVE_INFINITY)) attempt(() => file.appendNow(lines.join("")));
  }

  async #flush(): Promise<void> {
    for (;;) {
      const batch = this.#batch(LIMITS.auditSliceMs);
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
      if (fault !== undefined && !this.#hasComplained) this.#logger.error({ err: fault }, "the audit log cannot be written");
      this.#hasComplained = fault !== undefined;
      // Whatever is wrong with the disk, it is not mended by trying at once.
      if (fault !== undefined) return;
      await breath();
    }
  }

  /** Lines by file, of what waits, as many as can be made in that time. */
  #batch(sliceMs: number): Map<AuditFile, string[]> {
    const batch = new Map<AuditFile, string[]>();
    const put = (file: AuditFile, atMs: number, entry: AuditEntry): void => {
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
        this.#logger.error({ err: error }, "a line of the audit log could not be made");
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
        why: "there was no room for them, or the disk refused them",
      });
      this.#dropped = 0;
    }
    return batch;
  }

  #drop(count: number): void {
    if (this.#dropped === 0) this.#droppedSinceMs = Date.now();
    this.#dropped += count;
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Nobody is left to be told.
  }
}

// oxlint-disable no-control-regex -- that is the point
/** JSON escapes the old control characters; terminals obey newer ones, too, and letters that turn the direction of a line. */
const ORDERS = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
// oxlint-enable no-control-regex

/** SECURITY: whoever looks at the file with `cat` sees lines, each Creel's own. test/contract/audit.test.ts */
function lineOf(host: string, atMs: number, entry: AuditEntry): string {
  const text = JSON.stringify({ v: AUDIT_VERSION, at: new Date(atMs).toISOString(), host, pid: process.pid, ...entry });
  return `${text.replaceAll(ORDERS, (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, "0"))}\n`;
}

/**
 * Trusted side: records whole runs, for `creel replay` and `creel rerun`. Off unless the operator sets `record.enabled`: events hold what
 * users and models say. Known secrets are taken out as in the audit log. Making and writing lines happens after the run, a few
 * milliseconds at a time; what finds no room in the queue is dropped and counted.
 */
import { setImmediate as breath } from "node:timers/promises";
import { LIMITS } from "../../protocol/limits.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { RECORDING_VERSION } from "../../protocol/recording.ts";
import type { RecordedRun } from "../../protocol/recording.ts";
import type { Sanitiser } from "../audit/sanitiser.ts";
import type { Logger } from "../report/log.ts";
import type { RunInput } from "../run/run-input.ts";
import { RecordingFiles } from "./recording-files.ts";

export interface RecordSettings {
  readonly enabled: boolean;
  readonly hooks?: readonly string[] | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxAgeHours?: number | undefined;
}

export interface RecorderOptions {
  readonly host: string;
  readonly stateDir: string;
  readonly settings: RecordSettings;
  readonly sanitiser: () => Sanitiser;
  /** Calls of tools and jobs are runs, too, and cannot be made again by their event. */
  readonly isHook: (name: string) => boolean;
  readonly logger: Logger;
}

interface Waiting {
  readonly at: number;
  readonly input: RunInput;
  readonly outcome: Outcome;
}

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #files: RecordingFiles;
  readonly #hooks: ReadonlySet<string> | undefined;
  #queue: Waiting[] = [];
  #chars = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #pruning: NodeJS.Timeout;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { stateDir, host, settings, logger } = options;
    const { maxBytes = LIMITS.record.bytes, maxAgeHours = LIMITS.record.ageHours, hooks } = settings;
    this.#hooks = hooks && new Set(hooks);
    this.#files = new RecordingFiles(stateDir, host, { maxBytes, maxAgeMs: maxAgeHours * 3_600_000 });
    // Old recordings go although nothing new is recorded.
    this.#pruning = setInterval(() => this.#prune(), LIMITS.record.pruneMs).unref();
    this.#prune();
    logger.warn({ stateDir, maxBytes, maxAgeHours, hooks }, "whole events are recorded: record.enabled is set");
  }

  /** A run has ended. */
  run(input: RunInput, outcome: Outcome): void {
    if (!this.#options.isHook(outcome.hook) || (this.#hooks && !this.#hooks.has(outcome.hook))) return;
    const chars = input.eventText.length + input.contextText.length;
    if (chars > LIMITS.record.eventChars || this.#chars + chars > LIMITS.record.queueChars) {
      this.#dropped += 1;
      return;
    }
    this.#chars += chars;
    this.#queue.push({ at: Date.now(), input, outcome });
    this.#timer ??= setTimeout(() => this.#flush(), LIMITS.record.flushMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning);
    this.#flush();
    await this.#writing;
  }

  #prune(): void {
    this.#writing = this.#writing.then(() => this.#files.prune()).catch((error: unknown) => this.#complain(error));
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#queue.splice(0);
    this.#writing = this.#writing.then(() => this.#write(batch)).catch((error: unknown) => this.#complain(error));
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    let text = "";
    let sinceMs = performance.now();
    for (const waiting of batch) {
      this.#chars -= waiting.input.eventText.length + waiting.input.contextText.length;
      const line = this.#line(waiting);
      if (line === undefined) this.#dropped += 1;
      else text += line;
      if (text.length > LIMITS.record.writeChars) {
        await this.#files.append(text);
        text = "";
      }
      if (performance.now() - sinceMs < LIMITS.record.sliceMs) continue;
      await breath();
      sinceMs = performance.now();
    }
    if (text !== "") await this.#files.append(text);
    if (this.#dropped === 0) return;
    this.#options.logger.warn({ dropped: this.#dropped }, "runs were not recorded: too large, or too many at once");
    this.#dropped = 0;
  }

  /** Undefined: without its secrets the event is no JSON any more. */
  #line({ at, input, outcome }: Waiting): string | undefined {
    const sanitiser = this.#options.sanitiser();
    const [event, context] = [input.eventText, input.contextText].map((text) => sanitiser.json(text, LIMITS.record.eventChars));
    if (!event || !context || !("value" in event) || !("value" in context)) return undefined;
    const { runId, hook, decision, by, reason, calls, approval } = outcome;
    const run: RecordedRun = {
      v: RECORDING_VERSION,
      at,
      runId,
      hook,
      event: event.value as RecordedRun["event"],
      context: context.value as RecordedRun["context"],
      decision,
      ...(approval && { approval: approval.resolution }),
      ...(approval?.requests.every(({ isRemembered }) => isRemembered) && { isRemembered: true }),
      ...(by !== undefined && { by }),
      ...(reason !== undefined && { reason: sanitiser.words(reason) }),
      calls: calls.map(({ plugin, status }) => ({ plugin, status })),
    };
    return `${JSON.stringify(run)}\n`;
  }

  #complain(error: unknown): void {
    this.#options.logger.error({ err: error }, "a recording cannot be written");
  }
}

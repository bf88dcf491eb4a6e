/**
 * Trusted side: the audit log of a host with a state folder: runs that did not simply pass, what happened to plugins
 * and the sandbox, and what plugins used. It is called when a run has ended, and only if the run is worth a line: a run
 * that passes costs nothing here, unless the operator wants all of them.
 */
import type { AuditEntry } from "../../protocol/audit-line.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { RateWindow } from "../../protocol/rules/rate-window.ts";
import type { HostEvents } from "../report/events.ts";
import type { Logger } from "../report/log.ts";
import type { RunInput } from "../run/run-input.ts";
import type { CallCounts } from "../plugins/call-counts.ts";
import type { AuditSink, Stores } from "../stores.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import type { Sanitiser } from "./sanitiser.ts";
import { LineQueue } from "./line-queue.ts";
import { runEntry } from "./run-entry.ts";
import { Usage } from "./usage.ts";

export interface AuditSettings {
  /** `none`: log neither events nor what plugins made of them. */
  readonly events?: "full" | "none" | undefined;
  /** `all`: also runs that passed, and however many are alike. */
  readonly runs?: "news" | "all" | undefined;
  readonly maxBytes?: number | undefined;
}

export interface AuditOptions {
  readonly host: string;
  /** Of runs, and of what happened to plugins and the sandbox. */
  readonly sinks: { readonly runs: AuditSink; readonly state: AuditSink };
  readonly logger: Logger;
  readonly events: HostEvents;
  readonly settings: AuditSettings;
  readonly secrets: KnownSecrets;
  readonly callCounts: CallCounts;
}

/** Undefined: the stores keep no audit log. */
export function auditSinks(
  stores: Pick<Stores, "audit">,
  { maxBytes = LIMITS.audit.bytes }: AuditSettings,
): AuditOptions["sinks"] | undefined {
  const runs = stores.audit("runs", Math.floor(maxBytes * 0.75));
  const state = stores.audit("state", Math.floor(maxBytes * 0.25));
  return runs && state && { runs, state };
}

/** Similar runs within a window of time. */
interface Alike {
  readonly window: RateWindow;
  readonly hook: string;
  readonly plugin: string | undefined;
}

export class Audit {
  readonly usage: Usage;
  /** Every run is recorded. */
  readonly isWhole: boolean;
  readonly #options: AuditOptions;
  readonly #runs: AuditSink;
  readonly #state: AuditSink;
  readonly #lines: LineQueue;
  readonly #alike = new Map<string, Alike>();
  readonly #statuses = new Map<string, string>();
  #clock: NodeJS.Timeout | undefined;
  #alikeDropped = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.usage = new Usage(options.callCounts);
    this.isWhole = options.settings.runs === "all";
    const { host, sinks, logger } = options;
    this.#runs = sinks.runs;
    this.#state = sinks.state;
    this.#lines = new LineQueue(host, this.#state, logger);
    this.#wait(LIMITS.audit.firstUsageMs);
    this.#listen(options.events);
  }

  /** A run that is worth a line has ended. */
  run(input: RunInput, outcome: Outcome): void {
    if (!this.isWhole && !this.#admits(outcome)) return;
    const hasEvents = this.#options.settings.events !== "none";
    const { eventText, contextText } = input;
    this.#lines.add(this.#runs, eventText.length + contextText.length, () => runEntry(input, outcome, this.#clean(), hasEvents));
  }

  /** Lines that were not written: there was no room, or they were like too many others. */
  get dropped(): number {
    return this.#lines.droppedInAll + this.#alikeDropped;
  }

  async close(): Promise<void> {
    clearTimeout(this.#clock);
    this.#sum(Number.POSITIVE_INFINITY);
    await this.#lines.close();
  }

  #listen(events: HostEvents): void {
    events.on("quarantine", ({ plugin, state, why, until }) =>
      this.#note(() => ({
        kind: "quarantine",
        plugin,
        state,
        why: this.#clean().words(why),
        ...(until && { until: until.toISOString() }),
      })),
    );
    events.on("restart", ({ why, lanes, culprit }) =>
      this.#note(() => ({
        kind: "restart",
        ...(culprit !== undefined && { plugin: culprit }),
        why: this.#clean().words(why),
        lanes: [...lanes],
      })),
    );
    events.on("recursion", ({ plugin, sessionKey, limit, chain: { rootRunId, depth, path } }) =>
      this.#note(() => ({
        kind: "recursion",
        plugin,
        ...(sessionKey !== undefined && { sessionKey: this.#clean().words(sessionKey) }),
        limit,
        chain: { rootRunId, depth, path: path.slice(0, 64) },
      })),
    );
    events.on("moved", ({ plugin, lane, why }) => this.#note(() => ({ kind: "moved", plugin, lane, why: this.#clean().words(why) })));
    events.on("replaced", ({ plugin, why }) => this.#note(() => ({ kind: "replaced", plugin, why: this.#clean().words(why) })));
    events.on("plugin", ({ plugin, status, error }) => {
      const before = this.#statuses.get(plugin);
      this.#statuses.set(plugin, status);
      // Loading when the host opens is no change.
      if (before === undefined && (status === "ready" || status === "asleep")) return;
      this.#note(() => ({ kind: "plugin", plugin, status, ...(error !== undefined && { error: this.#clean().words(error) }) }));
    });
    events.on("refused", ({ plugin, service }) => this.usage.refused(plugin, service));
  }

  #note(make: () => AuditEntry): void {
    this.#lines.add(this.#state, 0, make);
  }

  #clean(): Sanitiser {
    return this.#options.secrets.sanitiser();
  }

  /** False: enough similar runs were logged in this window, so this one is only counted. */
  #admits({ hook, decision, by, calls }: Outcome): boolean {
    const plugin = by ?? calls.find(({ error }) => error)?.plugin;
    const key = `${hook} ${decision} ${plugin}`;
    let alike = this.#alike.get(key);
    if (!alike || alike.window.isOver) {
      if (alike) this.#noteDropped(alike);
      const window = new RateWindow(LIMITS.audit.runsPerWindow, LIMITS.audit.windowMs, Date.now);
      this.#alike.set(key, (alike = { window, hook, plugin }));
    }
    const isAdmitted = alike.window.admit();
    if (!isAdmitted) this.#alikeDropped += 1;
    return isAdmitted;
  }

  #noteDropped({ window, hook, plugin }: Alike): void {
    const dropped = window.count - LIMITS.audit.runsPerWindow;
    if (dropped <= 0) return;
    const since = new Date(window.startedMs).toISOString();
    const why = `more than ${LIMITS.audit.runsPerWindow} runs alike in ${LIMITS.audit.windowMs / 1000} s`;
    this.#note(() => ({ kind: "dropped", count: dropped, since, why, hook, ...(plugin !== undefined && { plugin }) }));
  }

  /** The first time soon: an operator who tries something looks at once. */
  #wait(ms: number): void {
    this.#clock = setTimeout(() => {
      this.#sum(Date.now() - LIMITS.audit.windowMs);
      this.#wait(Math.min(2 * ms, LIMITS.audit.usageMs));
    }, ms).unref();
  }

  /** Logs what was only counted so far. Covers windows of similar runs that began before then. */
  #sum(beforeMs: number): void {
    for (const [key, alike] of this.#alike) {
      if (alike.window.startedMs >= beforeMs) continue;
      this.#noteDropped(alike);
      this.#alike.delete(key);
    }
    for (const entry of this.usage.changed()) this.#note(() => entry);
  }
}

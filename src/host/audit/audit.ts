/**
 * Trusted side: the audit log of a host with a state folder: runs that did not simply pass, what happened to plugins and to the sandbox, and what
 * plugins used. It is told of a run when that is over, and only if there is something to tell: a run that passes costs nothing here.
 */
import type { AuditEntry } from "../../protocol/audit-line.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { HostEvents } from "../events.ts";
import type { Logger } from "../log.ts";
import type { Plugin } from "../plugin.ts";
import type { RunInput } from "../runner/run-input.ts";
import { redactionOf } from "../services/redact.ts";
import type { Redaction } from "../services/redact.ts";
import type { Tallies } from "../tally.ts";
import { AuditFile } from "./audit-file.ts";
import { Cleaner, secretsOf } from "./cleaner.ts";
import { Journal } from "./journal.ts";
import { runEntry } from "./run-entry.ts";
import { Usage } from "./usage.ts";

export interface AuditSettings {
  /** `none`: neither events nor what plugins made of them. */
  readonly events?: "full" | "none" | undefined;
  readonly maxBytes?: number | undefined;
}

export interface AuditOptions {
  readonly host: string;
  readonly stateDir: string;
  readonly logger: Logger;
  readonly events: HostEvents;
  readonly settings: AuditSettings;
  readonly secrets: readonly Redaction[];
  readonly tallies: Tallies;
  readonly plugins: () => Plugin[];
}

/** Runs that are all alike, in a window of time. */
interface Alike {
  startedMs: number;
  count: number;
  readonly hook: string;
  readonly plugin: string | undefined;
}

export class Audit {
  readonly usage: Usage;
  readonly #options: AuditOptions;
  readonly #runs: AuditFile;
  readonly #state: AuditFile;
  readonly #journal: Journal;
  readonly #alike = new Map<string, Alike>();
  readonly #statuses = new Map<string, string>();
  #clock: NodeJS.Timeout | undefined;
  /** By value: also those that a plugin had before it was loaded again, since what waits to be written may have them in it. */
  readonly #secrets = new Map<string, Redaction>();
  #cleaner: Cleaner | undefined;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.usage = new Usage(options.tallies);
    const { host, stateDir, logger, settings } = options;
    const { maxBytes = LIMITS.auditBytes } = settings;
    this.#runs = new AuditFile(stateDir, "runs", Math.floor(maxBytes * 0.75), LIMITS.auditFiles);
    this.#state = new AuditFile(stateDir, "state", Math.floor(maxBytes * 0.25), LIMITS.auditFiles);
    this.#journal = new Journal(host, this.#state, logger);
    this.#wait(LIMITS.auditFirstUsageMs);
    this.#listen(options.events);
  }

  /** A run is over in which something happened. */
  run(input: RunInput, outcome: Outcome): void {
    if (!this.#admits(outcome)) return;
    const hasEvents = this.#options.settings.events !== "none";
    const { eventText, contextText } = input;
    this.#journal.add(this.#runs, eventText.length + contextText.length, () => runEntry(input, outcome, this.#clean(), hasEvents));
  }

  async close(): Promise<void> {
    clearTimeout(this.#clock);
    this.#sum(Number.POSITIVE_INFINITY);
    await this.#journal.close();
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
    events.on("replaced", ({ plugin, why }) => this.#note(() => ({ kind: "replaced", plugin, why: this.#clean().words(why) })));
    events.on("plugin", ({ plugin, status, error }) => {
      this.#learn(plugin);
      const before = this.#statuses.get(plugin);
      this.#statuses.set(plugin, status);
      // That it was loaded when the host was opened is no change.
      if (before === undefined && (status === "ready" || status === "asleep")) return;
      this.#note(() => ({ kind: "plugin", plugin, status, ...(error !== undefined && { error: this.#clean().words(error) }) }));
    });
    events.on("refused", ({ plugin, service }) => this.usage.refused(plugin, service));
  }

  /** What a plugin that was loaded must not say. */
  #learn(id: string): void {
    const plugin = this.#options.plugins().find((one) => one.id === id);
    for (const [value, name] of plugin ? secretsOf(plugin) : []) {
      if (this.#secrets.has(value)) continue;
      this.#secrets.set(value, redactionOf(name, value));
      this.#cleaner = undefined;
    }
  }

  #note(make: () => AuditEntry): void {
    this.#journal.add(this.#state, 0, make);
  }

  #clean(): Cleaner {
    return (this.#cleaner ??= new Cleaner([...this.#options.secrets, ...this.#secrets.values()]));
  }

  /** False: there were enough like it in the last seconds, and it is only counted. */
  #admits({ hook, decision, by, calls }: Outcome): boolean {
    const plugin = by ?? calls.find(({ error }) => error)?.plugin;
    const key = `${hook} ${decision} ${plugin}`;
    const nowMs = Date.now();
    let alike = this.#alike.get(key);
    if (!alike || nowMs - alike.startedMs > LIMITS.auditWindowMs) {
      if (alike) this.#tell(alike);
      this.#alike.set(key, (alike = { startedMs: nowMs, count: 0, hook, plugin }));
    }
    alike.count += 1;
    return alike.count <= LIMITS.auditRunsPerWindow;
  }

  #tell({ startedMs, count, hook, plugin }: Alike): void {
    const dropped = count - LIMITS.auditRunsPerWindow;
    if (dropped <= 0) return;
    const since = new Date(startedMs).toISOString();
    const why = `more than ${LIMITS.auditRunsPerWindow} runs alike in ${LIMITS.auditWindowMs / 1000} s`;
    this.#note(() => ({ kind: "dropped", count: dropped, since, why, hook, ...(plugin !== undefined && { plugin }) }));
  }

  /** The first time soon: whoever tries something looks at once. */
  #wait(ms: number): void {
    this.#clock = setTimeout(() => {
      this.#sum(Date.now() - LIMITS.auditWindowMs);
      this.#wait(Math.min(2 * ms, LIMITS.auditUsageMs));
    }, ms).unref();
  }

  /** What was only counted so far; of runs that are alike, in windows that began before then. */
  #sum(beforeMs: number): void {
    for (const [key, alike] of this.#alike) {
      if (alike.startedMs >= beforeMs) continue;
      this.#tell(alike);
      this.#alike.delete(key);
    }
    for (const entry of this.usage.changed()) this.#note(() => entry);
  }
}

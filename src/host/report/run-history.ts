/** Trusted side: what `host.runs` and `host.runDetail` tell: the runs in flight and the latest ones that have ended, with their data. */
import { LIMITS } from "../../protocol/limits.ts";
import type { RunDetail, RunRecord } from "../../protocol/live-report.ts";
import { FUNCTION_HOOKS } from "../../protocol/messages/functions.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { Sanitiser } from "../audit/sanitiser.ts";
import { runEntry } from "../audit/run-entry.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { RunInput } from "../run/run-input.ts";
import type { HostEvents } from "./events.ts";
import type { RecentFacts } from "./recent-facts.ts";
import { endedRecord, flyingRecord, matches } from "./run-record.ts";
import type { RunFilter } from "./run-record.ts";
import { RunRing } from "./run-ring.ts";
import type { EndedRun } from "./run-ring.ts";

export interface RunHistoryOptions {
  readonly events: HostEvents;
  readonly recent: RecentFacts;
  readonly sanitiser: () => Sanitiser;
  /** False: the operator wants no events shown; see `audit.events`. */
  readonly hasEvents: boolean;
  /** The runs in the lanes. */
  readonly inLanes: () => RunInput[];
  /** The name of a plugin's function by the index of its handler. */
  readonly nameOf: (plugin: Plugin, index: number) => string | undefined;
}

export class RunHistory {
  readonly #options: RunHistoryOptions;
  readonly #ring = new RunRing();
  /** Runs that wait for a user and for nothing else: no lane has them. */
  readonly #asking = new Set<RunInput>();

  constructor(options: RunHistoryOptions) {
    this.#options = options;
  }

  /** On the path of every call. */
  ended(seq: number, input: RunInput, outcome: Outcome | undefined, endedMs: number): void {
    this.#ring.add(seq, input, outcome, endedMs);
  }

  asks(input: RunInput): void {
    this.#asking.add(input);
  }

  answered(input: RunInput): void {
    this.#asking.delete(input);
  }

  /** The latest first; those in flight before all others. If there are more than `limit`, each kind gets half, or what the other leaves. */
  runs(filter: RunFilter = {}): RunRecord[] {
    const { since = 0, limit = LIMITS.report.runs, brief } = filter;
    const ended: EndedRun[] = [];
    for (const run of this.#ring.latest()) {
      if (ended.length >= limit || run.seq <= since) break;
      if (matches(run, filter)) ended.push(run);
    }
    const flying = this.#flying().filter((input) => matches({ input }, filter));
    const shown = flying.slice(0, Math.max(limit - ended.length, Math.ceil(limit / 2)));
    return [
      ...shown.map((input) => this.#flyingRecord(input)),
      ...ended.slice(0, limit - shown.length).map((run) => endedRecord(run, this.#toolName(run.input), brief)),
    ];
  }

  /** Of a run in flight, or one of the latest; undefined: it is forgotten. */
  input(run: number): RunInput | undefined {
    for (const input of this.#options.inLanes()) if (input.cause === run) return input;
    for (const { input } of this.#ring.latest()) if (input.cause === run) return input;
    return undefined;
  }

  detail(runId: string): RunDetail | undefined {
    const ended = this.#ring.find(runId);
    if (ended) return this.#endedDetail(ended);
    const input = this.#flying().find((one) => one.runId === runId);
    if (!input) return undefined;
    const sanitiser = this.#options.sanitiser();
    return {
      ...this.#flyingRecord(input),
      ...(this.#options.hasEvents && { event: sanitiser.json(input.eventText), context: sanitiser.json(input.contextText) }),
      ...this.#related(input),
    };
  }

  #endedDetail(run: EndedRun): RunDetail {
    const { input, outcome } = run;
    const record = endedRecord(run, this.#toolName(run.input));
    if (!outcome) return { ...record, ...this.#related(input) };
    const { event, context, result, reason, calls } = runEntry(input, outcome, this.#options.sanitiser(), this.#options.hasEvents);
    return {
      ...record,
      ...(reason !== undefined && { reason }),
      ...(event !== undefined && { event }),
      ...(context !== undefined && { context }),
      ...(result !== undefined && { result }),
      steps: calls.map(({ saw, returned, changed }) => ({
        ...(saw !== undefined && { saw }),
        ...(returned !== undefined && { returned }),
        ...(changed !== undefined && { changed }),
      })),
      ...this.#related(input),
    };
  }

  #related({ runId, chain }: RunInput): Pick<RunDetail, "logs" | "caused" | "causedBy"> {
    const causedBy = chain.runIds.at(-1);
    const isCaused = (input: RunInput): boolean => input.chain.runIds.at(-1) === runId;
    const ended = Array.from(this.#ring.latest(), ({ input }) => input);
    return {
      logs: this.#options.recent.logsOf(runId),
      caused: [...this.#flying(), ...ended].filter(isCaused).map((input) => input.runId),
      ...(causedBy !== undefined && { causedBy }),
    };
  }

  /** Of a tool that a plugin provides, its own name; else the one in the event. */
  #toolName({ hook, plan: [handler], event }: RunInput): string | undefined {
    if (hook.name === FUNCTION_HOOKS.tool.name) return handler && this.#options.nameOf(handler.plugin, handler.index);
    const { toolName } = event as { readonly toolName?: unknown };
    return this.#options.hasEvents && typeof toolName === "string" ? toolName : undefined;
  }

  #flyingRecord(input: RunInput): RunRecord {
    return flyingRecord(this.#options.events.seq, input, this.#toolName(input));
  }

  /** The latest first. A run may be in several lanes. */
  #flying(): RunInput[] {
    return [...new Set([...this.#asking, ...this.#options.inLanes()])].toSorted((a, b) => b.startedMs - a.startedMs);
  }
}

/**
 * Trusted side: the latest facts that an operator wants to have seen: restarts, quarantines, loops, refused requests, changes of plugins,
 * approvals. What happened before the console was started comes from the host's memory. Facts of every call and run are not among them.
 */
import { LIMITS } from "../protocol/limits.ts";
import type { RecentFact } from "../protocol/live-report.ts";
import type { FactName } from "../host/report/events.ts";
import type { ConsoleHost } from "./console-host.ts";

export interface Incident {
  readonly kind: FactName;
  /** Counts up; of this console. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly fact: Readonly<Record<string, unknown>>;
}

const KEPT = [
  "plugin",
  "replaced",
  "moved",
  "recursion",
  "quarantine",
  "refused",
  "restart",
  "approval",
  "delivery",
] as const satisfies readonly FactName[];

export class Incidents implements Disposable {
  /** By host and number of the fact. */
  readonly #kept = new Map<string, Incident>();
  readonly #ends: (() => void)[];
  readonly #host: ConsoleHost;
  readonly #notify: (incident: Incident) => void;
  #number = 0;

  constructor(host: ConsoleHost, notify: (incident: Incident) => void) {
    this.#host = host;
    this.#notify = notify;
    this.#ends = KEPT.map((kind) => host.on(kind, (fact) => this.#add(kind, fact)));
  }

  /** The oldest first. */
  all(): readonly Incident[] {
    return [...this.#kept.values()].toSorted((one, other) => one.at - other.at);
  }

  /** Adds what the host remembers of the time before. */
  remember(recent: readonly RecentFact[]): void {
    for (const { event, fact } of recent) if (KEPT.some((kind) => kind === event)) this.#add(event, fact);
  }

  #add(kind: FactName, told: object): void {
    const { at, seq, host = this.#host.id, pending: _, ...fact } = told as Record<string, unknown>;
    const key = `${String(host)} ${String(seq)}`;
    if (this.#kept.has(key) || (kind === "delivery" && fact.status === "delivered")) return;
    const incident = { kind, number: (this.#number += 1), at: typeof at === "number" ? at : Date.now(), fact };
    this.#kept.set(key, incident);
    // Many of one kind do not push the others out.
    const same = [...this.#kept].filter(([, one]) => one.kind === kind);
    if (same.length > LIMITS.report.factsPerKind) this.#kept.delete(same[0]![0]);
    this.#notify(incident);
  }

  [Symbol.dispose](): void {
    for (const end of this.#ends) end();
  }
}

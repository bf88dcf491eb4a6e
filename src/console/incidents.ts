/**
 * Trusted side: the latest facts that an operator wants to have seen: restarts, quarantines, loops, refused requests, changes of plugins,
 * approvals. They are rare, so they are kept also while no page is open. Facts of every call and run are not among them.
 */
import { LIMITS } from "../protocol/limits.ts";
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
] as const satisfies readonly FactName[];

export class Incidents implements Disposable {
  readonly #kept: Incident[] = [];
  readonly #ends: (() => void)[];
  readonly #heard: (incident: Incident) => void;
  #number = 0;

  constructor(host: ConsoleHost, heard: (incident: Incident) => void) {
    this.#heard = heard;
    this.#ends = KEPT.map((kind) => host.on(kind, (fact) => this.#add(kind, fact)));
  }

  /** The oldest first. */
  since(number: number): readonly Incident[] {
    return this.#kept.filter((incident) => incident.number > number);
  }

  #add(kind: FactName, fact: object): void {
    const { at, pending: _, ...rest } = fact as Record<string, unknown>;
    const incident = { kind, number: (this.#number += 1), at: typeof at === "number" ? at : Date.now(), fact: rest };
    this.#kept.push(incident);
    if (this.#kept.length > LIMITS.console.incidents) this.#kept.shift();
    this.#heard(incident);
  }

  [Symbol.dispose](): void {
    for (const end of this.#ends) end();
  }
}

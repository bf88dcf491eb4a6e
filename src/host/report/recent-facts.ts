/**
 * Trusted side: the latest rare facts and log lines of a host, for readers who come later: `creel console` is opened after the crash.
 * Each kind has its own bound, so that a plugin that is refused a thousand times does not push the restart out.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { RecentFact, RecentFilter, RunDetail } from "../../protocol/live-report.ts";
import type { Sanitiser } from "../audit/sanitiser.ts";
import type { Fact, HostEvents } from "./events.ts";
import { LogRing } from "./log-ring.ts";

/** Facts of every call and run are in the history of runs instead. */
const KEPT = ["plugin", "replaced", "moved", "recursion", "quarantine", "refused", "restart", "approval", "delivery"] as const;

export class RecentFacts {
  readonly #kept = new Map<RecentFact["event"], RecentFact[]>();
  readonly #logs = new LogRing();
  readonly #sanitiser: () => Sanitiser;

  constructor(events: HostEvents, sanitiser: () => Sanitiser) {
    this.#sanitiser = sanitiser;
    for (const name of KEPT)
      events.on(name, (fact) => {
        // What was delivered is no news, and what waits is listed as pending, with its parameters.
        if ("attempt" in fact && fact.status === "delivered") return;
        const { pending: _, ...rest } = fact as Fact<"approval">;
        this.#add(name, rest);
      });
    events.on("log", (fact) => this.#logs.add(fact));
  }

  /** The oldest first. */
  list({ since = 0, limit = Number.POSITIVE_INFINITY }: RecentFilter = {}): RecentFact[] {
    const logs = this.#logs.all().map((fact): RecentFact => ({ event: "log", fact }));
    const all = [...this.#kept.values(), logs].flat().filter(({ fact }) => fact.seq > since);
    const latest = all.toSorted((one, other) => one.fact.seq - other.fact.seq).slice(-limit);
    const sanitiser = this.#sanitiser();
    const clean = (fact: Fact<"log">): Fact<"log"> => ({ ...fact, text: sanitiser.words(fact.text, LIMITS.audit.valueChars) });
    return latest.map(({ event, fact }) => ({ event, fact: event === "log" ? clean(fact as Fact<"log">) : fact }));
  }

  /** Of one run, the oldest first. */
  logsOf(wanted: string): RunDetail["logs"] {
    const sanitiser = this.#sanitiser();
    return this.#logs
      .all()
      .filter(({ runId }) => runId === wanted)
      .map(({ seq, at, plugin, level, text }) => ({ seq, at, plugin, level, text: sanitiser.words(text, LIMITS.audit.valueChars) }));
  }

  #add(event: RecentFact["event"], fact: RecentFact["fact"]): void {
    const same = this.#kept.get(event) ?? [];
    this.#kept.set(event, same);
    same.push({ event, fact });
    if (same.length > LIMITS.report.factsPerKind) same.shift();
  }
}

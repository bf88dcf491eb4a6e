/** Follows a host and reports its facts, until the host closes or the signal fires; before that, what the host remembers. */
import type { FactName, Facts } from "../../host/report/events.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { RecentFact, RunRecord, Stamp } from "../../protocol/live-report.ts";
import type { EventFilter } from "../../protocol/serve.ts";
import { ServeLink } from "../../sdk/remote/serve-link.ts";
import { matchesFilter } from "../../serve/event-filter.ts";

export interface FollowOptions {
  readonly socket: string;
  readonly filter: EventFilter;
  readonly signal: AbortSignal;
  /** So many facts that the host remembers, first. */
  readonly last?: number | undefined;
  /** Only those. */
  readonly isOnce?: boolean;
  readonly told: <K extends FactName>(name: K, fact: Facts[K] & Stamp) => void;
  /** The subscription is active. */
  readonly began: (host: { readonly id: string; readonly pid: number }) => void;
}

/** Gives the reason for the end; undefined: the signal, or all that is remembered was told. Rejects if no host is running. */
export async function follow(options: FollowOptions): Promise<string | undefined> {
  const { socket, filter, signal, last = 0, isOnce = false, told, began } = options;
  const over = Promise.withResolvers<string | undefined>();
  /** Facts that come while the past is fetched; undefined: it was told. */
  let early: RecentFact[] | undefined = [];
  const link = await ServeLink.open({
    path: socket,
    offers: [],
    wantsState: false,
    told: ({ event, fact }) => (early ? void early.push({ event, fact: fact as unknown as Stamp }) : told(event, fact as never)),
    asked: () => Promise.reject(new CreelError("ERR_SERVE_UNABLE", { what: "an answer" })),
    lost: ({ params }) => over.resolve(String(params.detail)),
  });
  const stop = (): void => over.resolve(undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    if (!isOnce) await link.request("subscribe", filter);
    began({ id: link.hostId, pid: link.hostPid });
    const past = last > 0 ? (await remembered(link, filter)).slice(-last) : [];
    const latest = past.at(-1)?.fact.seq ?? 0;
    for (const { event, fact } of [...past, ...early.filter((one) => one.fact.seq > latest)]) told(event, fact as never);
    early = undefined;
    if (isOnce) return undefined;
    return await over.promise;
  } finally {
    signal.removeEventListener("abort", stop);
    await link.close();
  }
}

/** Runs, rare facts and log lines that the filter takes, the oldest first. */
async function remembered(link: ServeLink, filter: EventFilter): Promise<RecentFact[]> {
  const [runs, facts] = (await Promise.all([link.request("runs", {}), link.request("recentFacts", {})])) as [RunRecord[], RecentFact[]];
  return [...runs.map(asFact), ...facts]
    .filter(({ event, fact }) => (!filter.facts || filter.facts.includes(event)) && matchesFilter(filter, event, fact as never))
    .toSorted((one, other) => one.fact.at - other.fact.at || one.fact.seq - other.fact.seq);
}

/** The fact that was published about a run, or would have been. */
function asFact({
  seq,
  at,
  runId,
  hook,
  wallMs,
  activateMs = 0,
  chain,
  decision,
  by,
  reason,
  calls,
  plugins = [],
  approval,
}: RunRecord): RecentFact {
  if (wallMs === undefined) return { event: "begun", fact: { seq, at, runId, hook, plugins, activateMs, chain } as Stamp };
  const ended = { seq, at: at + Math.round(wallMs) };
  if (decision === undefined) return { event: "aborted", fact: { ...ended, runId, hook, wallMs, chain } as Stamp };
  return {
    event: "run",
    fact: { ...ended, outcome: { runId, hook, decision, by, reason, calls, approval }, wallMs, activateMs, chain } as Stamp,
  };
}

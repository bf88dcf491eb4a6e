/**
 * Trusted side: what open pages are told, as lines of JSON. Runs are fetched from the host's ring a few times a second, so that a run costs
 * the same whether a page is open or not; state is sent when it changed. Without an open page nothing runs but the sample of measurements.
 */
import type { ServerResponse } from "node:http";
import { LIMITS } from "../protocol/limits.ts";
import type { HostStats, RunRecord } from "../protocol/live-report.ts";
import type { ConsoleHost } from "./console-host.ts";
import { Incidents } from "./incidents.ts";
import type { Incident } from "./incidents.ts";
import { pageStats, rowOf } from "./page-lines.ts";
import { lineOf, Reader } from "./reader.ts";
import { Samples } from "./samples.ts";

export interface FeedOptions {
  readonly log: (error: unknown) => void;
  readonly hasTools: boolean;
}

export class Feed implements Disposable {
  readonly #host: ConsoleHost;
  readonly #log: (error: unknown) => void;
  readonly #hasTools: boolean;
  readonly #readers = new Set<Reader>();
  readonly #incidents: Incidents;
  readonly #samples = new Samples();
  readonly #sampler: NodeJS.Timeout;
  #ticker: NodeJS.Timeout | undefined;
  #isTicking = false;
  /** Of the last run that was fetched for the open pages. */
  #seq = 0;
  #hostId = "";
  #ticks = 0;
  #away: string | undefined;
  #stats: HostStats | undefined;
  #flying = "";
  /** What was last sent, by the key of its line. */
  readonly #sent = new Map<string, string>();
  #endLogs: (() => void) | undefined;
  /** Log lines that the pages have not been told. */
  #logs: object[] = [];

  constructor(host: ConsoleHost, { log, hasTools }: FeedOptions) {
    this.#host = host;
    this.#hasTools = hasTools;
    this.#log = log;
    this.#incidents = new Incidents(host, (incident) => this.#added(incident));
    this.#sampler = setInterval(() => void this.#sample(), LIMITS.console.sampleMs);
    this.#sampler.unref();
    void this.#sample();
    void this.#recall();
  }

  get openPages(): number {
    return this.#readers.size;
  }

  get samples(): Samples["all"] {
    return this.#samples.all;
  }

  /** Opens a stream. `since`, `host`: the last run that this page has seen, and of which host. */
  async join(response: ServerResponse, scopes: readonly string[], since: { readonly seq: number; readonly host: string }): Promise<void> {
    const reader = new Reader(response, () => this.#leave(reader));
    const { id } = this.#host;
    const found = await this.#orAway(() =>
      Promise.all([
        this.#host.runs({ ...(since.host === id && { since: since.seq }), limit: LIMITS.console.runsAtOnce, brief: true }),
        this.#host.pendingApprovals(),
        this.#host.recentFacts(),
      ]),
    );
    const [runs, approvals, recent] = found ?? [[], [], []];
    if (response.destroyed) return;
    // This page gets them with what the host remembers.
    this.#tellLogs();
    const ended = runs.filter(({ wallMs }) => wallMs !== undefined).toSorted(bySeq);
    const flying = runs.filter(({ wallMs }) => wallMs === undefined);
    const plugins = this.#plugins();
    reader.latest("hello", () => ({
      hello: { host: id, scopes, now: Date.now(), beatMs: LIMITS.console.beatMs, hasTools: this.#hasTools },
      away: this.#away,
      runs: ended.map(rowOf),
      flying: flying.map(rowOf),
      plugins,
      approvals,
      stats: this.#stats && pageStats(this.#stats),
      incidents: this.#incidents.all(),
      logs: recent.flatMap(({ event, fact }) => (event === "log" ? [fact] : [])),
    }));
    // The other readers go on from where they are: a run that comes twice is the same run to a page.
    const seen = ended.at(-1)?.seq ?? (since.host === id ? since.seq : 0);
    this.#seq = this.#readers.size === 0 ? seen : Math.min(this.#seq, seen);
    this.#hostId = id;
    // The next change is measured against what this page was just told, so the others are told it as well.
    if (found) {
      this.#tellFlying(flying);
      this.#tellLatest("approvals", { approvals });
      this.#tellLatest("plugins", { plugins });
    }
    this.#readers.add(reader);
    this.#start();
  }

  /** What happened in the host before this console was there. */
  async #recall(): Promise<void> {
    const recent = await this.#orAway(() => this.#host.recentFacts());
    if (recent) this.#incidents.remember(recent);
  }

  #start(): void {
    if (this.#ticker) return;
    this.#ticks = 0;
    this.#ticker = setInterval(() => void this.#tick(), LIMITS.console.tickMs);
    this.#endLogs = this.#host.on("log", (fact) => {
      this.#logs.push(fact);
      if (this.#logs.length >= LIMITS.console.logsAtOnce) this.#tellLogs();
    });
  }

  #leave(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#stop();
  }

  #stop(): void {
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    this.#endLogs?.();
    this.#endLogs = undefined;
    this.#logs = [];
    this.#sent.clear();
  }

  async #tick(): Promise<void> {
    if (this.#isTicking) return;
    this.#isTicking = true;
    try {
      this.#ticks += 1;
      // Those of the host that was there until now come before the next one.
      this.#tellLogs();
      const { id } = this.#host;
      if (id !== this.#hostId) this.#anew(id);
      await this.#pull();
      // What the first page was opened with is of the last sample.
      if (this.#ticks === 1) await this.#tellState();
      if (this.#ticks % LIMITS.console.beatTicks === 0) this.#tell(lineOf({ beat: Date.now() }), 0);
    } finally {
      this.#isTicking = false;
    }
  }

  /** Another host answers at the same socket: its numbers begin anew. */
  #anew(id: string): void {
    this.#hostId = id;
    this.#seq = 0;
    this.#sent.clear();
    this.#tell(lineOf({ host: id }), 0);
    void this.#recall();
  }

  async #pull(): Promise<void> {
    const runs = await this.#orAway(() => this.#host.runs({ since: this.#seq, limit: LIMITS.console.runsAtOnce, brief: true }));
    if (!runs) return;
    const ended = runs.filter(({ wallMs }) => wallMs !== undefined).toSorted(bySeq);
    if (ended.length > 0) {
      this.#seq = ended.at(-1)!.seq;
      // A page counts the runs that it did not get: they have numbers.
      this.#tell(lineOf({ runs: ended.map(rowOf) }), 0);
    }
    this.#tellFlying(runs.filter(({ wallMs }) => wallMs === undefined));
  }

  #tellFlying(flying: readonly RunRecord[]): void {
    const ids = flying.map(({ runId }) => runId).join();
    if (ids === this.#flying) return;
    this.#flying = ids;
    this.#tellLatest("flying", { flying: flying.map(rowOf) });
  }

  async #tellState(): Promise<HostStats | undefined> {
    const stats = await this.#orAway(() => this.#host.stats());
    if (!stats) return undefined;
    this.#stats = stats;
    if (this.#readers.size > 0) {
      this.#tellLatest("stats", { stats: pageStats(stats) });
      this.#tellLatest("plugins", { plugins: this.#plugins() });
    }
    return stats;
  }

  async #tellApprovals(): Promise<void> {
    const approvals = await this.#orAway(() => this.#host.pendingApprovals());
    if (approvals) this.#tellLatest("approvals", { approvals });
  }

  #added(incident: Incident): void {
    if (this.#readers.size === 0) return;
    this.#tell(lineOf({ incident }), 1);
    if (incident.kind === "approval") void this.#tellApprovals();
    else this.#tellLatest("plugins", { plugins: this.#plugins() });
  }

  #plugins(): readonly object[] {
    try {
      return this.#host.plugins();
    } catch {
      return [];
    }
  }

  async #sample(): Promise<void> {
    const stats = await this.#tellState();
    const sample = stats && this.#samples.add(stats);
    if (sample && this.#readers.size > 0) this.#tell(lineOf({ sample }), 1);
  }

  /** A host in another process may be gone; the pages are told, and once more when it is back. */
  async #orAway<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const found = await work();
      if (this.#away !== undefined) {
        this.#away = undefined;
        this.#tell(lineOf({ away: null }), 0);
        void this.#tellApprovals();
      }
      return found;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.#away !== why) {
        this.#away = why;
        this.#log(error);
        this.#tell(lineOf({ away: why }), 0);
      }
      return undefined;
    }
  }

  /** Together, several times a second: a plugin may write hundreds. */
  #tellLogs(): void {
    if (this.#logs.length === 0) return;
    this.#tell(lineOf({ log: this.#logs }), this.#logs.length);
    this.#logs = [];
  }

  #tell(line: string, count: number): void {
    for (const reader of this.#readers) reader.send(line, count);
  }

  /** Only if it changed. */
  #tellLatest(key: string, state: object): void {
    const line = lineOf(state);
    if (this.#sent.get(key) === line) return;
    this.#sent.set(key, line);
    for (const reader of this.#readers) reader.latest(key, () => state, line);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sampler);
    this.#stop();
    this.#incidents[Symbol.dispose]();
    for (const reader of this.#readers) reader.end();
  }
}

function bySeq(one: RunRecord, other: RunRecord): number {
  return one.seq - other.seq;
}

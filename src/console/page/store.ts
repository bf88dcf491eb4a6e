/** The page: what it knows of the host. The connection writes it, views read it. Bounded: a tab may stay open for a week. */
import { computed, signal } from "@preact/signals";
import type { PendingApproval } from "../../protocol/live-report.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import type { Incident } from "../incidents.ts";
import type { PageStats, RunRow } from "../page-lines.ts";
import type { Sample } from "../samples.ts";

export type Connection = "connecting" | "live" | "lost" | "signed-out";

/** A date as JSON has it. */
type Wire<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;
export type Report = Wire<PluginReport>;

export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly plugin: string;
  readonly level: string;
  readonly text: string;
  readonly runId?: string;
}

const MAX_RUNS = 10_000;
const MAX_LOGS = 2_000;
const MAX_INCIDENTS = 500;
const MAX_SAMPLES = 720;

export const connection = signal<Connection>("connecting");
/** Why the host does not answer, though the console does. */
export const away = signal<string | undefined>(undefined);
export const hostId = signal("");
export const scopes = signal<readonly string[]>([]);
export const mayAct = computed(() => scopes.value.includes("act"));
/** The console has the project's files: it can replay, and change what is installed. */
export const hasTools = signal(false);
export const mayUseTools = computed(() => hasTools.value && mayAct.value);
/** Log lines and incidents that this page was too slow for. */
export const dropped = signal(0);
/** Runs that ended while this page was followed or away, and that it was not told. */
export const missed = signal(0);
export const stats = signal<PageStats | undefined>(undefined);
export const plugins = signal<readonly Report[]>([]);
export const approvals = signal<readonly PendingApproval[]>([]);
export const incidents = signal<readonly Incident[]>([]);
export const logs = signal<readonly LogLine[]>([]);
export const samples = signal<readonly Sample[]>([]);
export const flying = signal<readonly RunRow[]>([]);

/** The oldest first. Changed in place; `runsVersion` says when. */
export const runs: RunRow[] = [];
export const runsVersion = signal(0);
const known = new Set<string>();
/** For the next connection: what it need not tell again. */
export const last = { seq: 0, host: "" };
/** Of the latest run that is known here; undefined: none is, and so none was missed. */
let lastNumber: number | undefined;

/** The host's clock minus this page's. */
let offsetMs = 0;
const hostNow = (): number => Date.now() + offsetMs;
export const setHostClock = (now: number): void => void (offsetMs = now - Date.now());

/** Ticks once a second while the page is shown, for ages. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = hostNow();
}, 1_000);

/** The oldest first. */
export function addRuns(more: readonly RunRow[]): void {
  for (const run of more) {
    countMissed(run);
    last.seq = Math.max(last.seq, run.seq);
    if (known.has(run.runId)) continue;
    known.add(run.runId);
    runs.push(run);
  }
  if (runs.length > MAX_RUNS) for (const { runId } of runs.splice(0, runs.length - MAX_RUNS)) known.delete(runId);
  if (more.length === 0) return;
  setFlying(flying.value);
  runsVersion.value += 1;
}

/** Without those whose end is known: they are in the list already. */
export function setFlying(runsInFlight: readonly RunRow[]): void {
  flying.value = runsInFlight.filter(({ runId }) => !known.has(runId));
}

function countMissed({ number = 0 }: RunRow): void {
  if (lastNumber !== undefined && number > lastNumber + 1) missed.value += number - lastNumber - 1;
  lastNumber = Math.max(lastNumber ?? 0, number);
}

/** Another host answers: its runs are other runs. */
export function setHost(id: string): void {
  if (id === hostId.value) return;
  if (hostId.value !== "") {
    runs.length = 0;
    known.clear();
    last.seq = 0;
    lastNumber = undefined;
    samples.value = [];
    runsVersion.value += 1;
  }
  hostId.value = id;
  last.host = id;
}

export function addIncident(incident: Incident): void {
  incidents.value = [...incidents.value.slice(1 - MAX_INCIDENTS), incident];
}

export function addLogs(more: readonly LogLine[]): void {
  logs.value = [...logs.value, ...more].slice(-MAX_LOGS);
}

export function addSample(sample: Sample): void {
  samples.value = [...samples.value.slice(1 - MAX_SAMPLES), sample];
}

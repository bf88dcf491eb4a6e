/**
 * What a host tells about itself while it runs: recent runs, measurements, approvals that wait. The host makes this data;
 * `creel top`, `/metrics`, the console page and `creel serve` show it. Texts inside come from plugins: a program that shows them escapes them.
 */
import type { FACT_NAMES } from "./fact-names.ts";
import type { ApprovalResolution } from "./hooks/tool.ts";
import type { Call, Decision, SettledApproval } from "./outcome.ts";

/** What every fact and every record carries. */
export interface Stamp {
  /** Counts up by one per fact of a host, so that a reader sees gaps and can resume. */
  readonly seq: number;
  /** Milliseconds since 1970, by the host's clock. */
  readonly at: number;
}

/** The causes of a run. */
export interface RecordedChain {
  readonly rootRunId: string;
  readonly depth: number;
  /** `plugin:hook`, the oldest first. */
  readonly path: readonly string[];
  /** The runs those handlers were called in, the oldest first. */
  readonly runIds: readonly string[];
  /** The plugin that caused this run; absent at the root. */
  readonly by?: string;
}

export interface RecordedCall extends Call {
  /** Milliseconds from the start of the run to the start of the call; undefined: it was not called. */
  readonly startMs?: number;
  readonly lane?: number;
  /** 2: the call was made once more, after the process of the first was lost. */
  readonly attempt?: number;
  /** The message that took the call to its lane, counted from 1 in the run: calls of the same batch went together. */
  readonly batch?: number;
}

/**
 * A run in the ring of recent ones. `at` is when it began; `seq` is the number of its `run` fact. `wallMs` is undefined while it is in
 * flight; then `seq` is that of the latest fact. `decision` is undefined as well if the gateway aborted it.
 */
export interface RunRecord extends Stamp {
  readonly runId: string;
  readonly hook: string;
  /** Of a plugin's tool; and of a hook about a tool call, unless the operator wants no events shown: a model's word, cut. */
  readonly toolName?: string;
  /** Of a run that has ended: how many runs of this host had, with this one. A reader sees by it how many it has missed. */
  readonly number?: number;
  readonly wallMs?: number;
  /** Of `wallMs`: how long lazy plugins took to load. */
  readonly activateMs?: number;
  readonly decision?: Decision;
  readonly by?: string;
  readonly reason?: string;
  readonly chain: RecordedChain;
  readonly calls: readonly RecordedCall[];
  /** Of a run in flight: the plugins that are called, in order. What it waits for is among them, or a person. */
  readonly plugins?: readonly string[];
  readonly approval?: SettledApproval;
}

/**
 * One run with its data, as `creel explain` shows it: what each handler saw, returned and changed. Values are as in the audit log:
 * `{ value }`, or `{ text, chars }` if the text was cut; known secrets are taken out.
 */
export interface RunDetail extends RunRecord {
  readonly event?: unknown;
  readonly context?: unknown;
  readonly result?: unknown;
  readonly steps?: readonly { readonly saw?: unknown; readonly returned?: unknown; readonly changed?: readonly string[] }[];
  readonly logs: readonly (Stamp & { readonly plugin: string; readonly level: string; readonly text: string })[];
  /** Runs this one caused directly, and the run that caused it. */
  readonly caused: readonly string[];
  readonly causedBy?: string;
}

/** A fact that the host remembers: log lines, and what is rare, such as restarts. The fields of `fact` are those of its kind. */
export interface RecentFact {
  readonly event: (typeof FACT_NAMES)[number];
  readonly fact: Stamp;
}

export interface RecentFilter {
  /** Only facts after this number. */
  readonly since?: number | undefined;
  /** At most so many, the latest. */
  readonly limit?: number | undefined;
}

/** Counts per bucket; `bounds[i]` is the upper bound of bucket i in seconds, and one more bucket holds what is above the last. */
export interface Histogram {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
  /** The run of the latest value per bucket, for exemplars. */
  readonly exemplars?: readonly ({ readonly runId: string; readonly value: number; readonly at: number } | undefined)[];
}

export interface HookStats {
  readonly hook: string;
  /** By decision; `aborted`: the gateway gave the run up. */
  readonly runs: Readonly<Partial<Record<Decision | "aborted", number>>>;
  readonly duration: Histogram;
}

export interface PluginStats {
  readonly plugin: string;
  readonly version?: string;
  readonly digest?: string;
  /** Such as `ready`, `asleep`, `failed`. */
  readonly status: string;
  /** By hook and status. */
  readonly calls: readonly { readonly hook: string; readonly status: string; readonly count: number }[];
  readonly duration: Histogram;
  /** By hook: calls that took time, and how long they took together, by the wall clock. */
  readonly hooks: readonly { readonly hook: string; readonly calls: number; readonly seconds: number }[];
  readonly cpuSeconds: number;
  /** Share of a CPU over the last minute, 0 to 1. */
  readonly cpuRatio: number;
  /** Of its cell when it was last measured; undefined: it has no cell. */
  readonly heapBytes?: number;
  readonly heapLimitBytes?: number;
  readonly circuit: string;
  /** Rebuilt cells, by reason: `cpu`, `memory`, `timeout`, `other`. */
  readonly replacements: Readonly<Record<string, number>>;
  readonly approvals: Readonly<Partial<Record<ApprovalResolution, number>>>;
  readonly fetches: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly permissionUses: Readonly<Record<string, number>>;
  /** Grants that were used since the host opened, by key, such as `fetch:https://api.example.com`. */
  readonly permissions: readonly { readonly key: string; readonly uses: number; readonly lastUsedAt: number }[];
  readonly droppedLogLines: number;
  /** Attempts to deliver events of durable hooks: `delivered`, `failed` (tried again later), `dead` (given up), `dropped` (nobody listens). */
  readonly deliveries: Readonly<Record<string, number>>;
}

export interface ProcessStats {
  readonly kind: "gateway" | "sandbox" | "spare" | "bundler";
  readonly pid: number;
  readonly rssBytes: number;
  /** Lanes it serves. */
  readonly lanes: readonly number[];
}

/** A snapshot of all measurements. Counters count since the host opened. */
export interface HostStats extends Stamp {
  readonly host: string;
  readonly openedAt: number;
  readonly hooks: readonly HookStats[];
  readonly plugins: readonly PluginStats[];
  readonly processes: readonly ProcessStats[];
  readonly lanes: readonly { readonly lane: number; readonly waiting: number }[];
  readonly inFlight: number;
  readonly eventLoop: { readonly meanMs: number; readonly p99Ms: number; readonly maxMs: number };
  readonly restarts: readonly { readonly plugin?: string; readonly reason: string; readonly count: number }[];
  readonly recursions: Readonly<Record<string, number>>;
  readonly approvals: { readonly pending: number; readonly wait: Histogram };
  readonly auditDropped: number;
  /** Whole events are recorded: `record.enabled` is set. */
  readonly isRecording: boolean;
  /** The outbox of durable hooks. Absent: no hook is durable, or the file cannot be read now. */
  readonly outbox?: OutboxStats;
}

export interface OutboxStats {
  /** Events, one for each plugin that they wait for. */
  readonly waiting: number;
  /** Given up, and kept for `creel dead`. */
  readonly dead: number;
  readonly bytes: number;
  /** What it may hold now: less than usual if the disk is nearly full. */
  readonly limitBytes: number;
}

/** An approval that waits for an answer. */
export interface PendingApproval {
  readonly id: string;
  readonly runId: string;
  readonly toolName: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  /** The parameters as they would run. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The parameters are too large to be shown, and left out. Then only a denial is allowed. */
  readonly isCut?: true;
  /** SHA-256 of the canonical JSON of tool name and parameters: an answer must name it. */
  readonly digest: string;
  readonly requests: readonly {
    readonly pluginId: string;
    readonly title: string;
    readonly description?: string;
    readonly severity?: "info" | "warning" | "critical";
  }[];
  /** Which plugins changed which parameters after the first request. */
  readonly changes?: readonly { readonly pluginId: string; readonly params: readonly string[] }[];
  /** Answers that every request permits. Empty: the caller of the run answers by itself. */
  readonly allowed: readonly ("allow-once" | "allow-always" | "deny")[];
  /** By the host's clock, in milliseconds since 1970. */
  readonly askedAt: number;
  readonly expiresAt: number;
}

export interface ApprovalReply {
  readonly id: string;
  readonly digest: string;
  readonly decision: "allow-once" | "allow-always" | "deny";
  /** Who decided, for the ledger. */
  readonly by?: string;
}

/** `accepted`: this answer decided. The others did nothing. */
export interface ApprovalReceipt {
  readonly status: "accepted" | "settled" | "unknown" | "changed" | "refused";
  /** How the approval ended, if it has. */
  readonly resolution?: ApprovalResolution;
  readonly by?: string;
}

/** The way an answer came: the gateway's own callback, a serve client, the console, the command line. */
export const ANSWER_ORIGINS = ["gateway", "serve", "console", "cli"] as const;
export type AnswerOrigin = (typeof ANSWER_ORIGINS)[number];

/** Which entries of the ledger. */
export interface LedgerFilter {
  readonly plugin?: string;
  readonly tool?: string;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly limit?: number;
}

/** Who decided what, when, from where. Kept in the state folder. */
export interface LedgerEntry extends Stamp {
  readonly id: string;
  readonly runId: string;
  readonly toolName: string;
  readonly plugins: readonly string[];
  readonly titles: readonly string[];
  readonly digest: string;
  readonly resolution: ApprovalResolution;
  readonly by?: string;
  /** `none`: no answer came. */
  readonly from: AnswerOrigin | "none";
  readonly waitedMs: number;
}

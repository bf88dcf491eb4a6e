/**
 * Trusted side: the calls a gateway makes. `CoreHost` (host.ts) implements them in this process, `RemoteHost` (sdk/remote) over the
 * socket of `creel serve`.
 */
import type { Catalog, ContextOf, DecisionOf, EventOf, HookTable, NameByKind, ResultOf } from "../protocol/catalog.ts";
import type { PluginEntry } from "../protocol/config/config.ts";
import type {
  AnswerOrigin,
  ApprovalReceipt,
  ApprovalReply,
  HostStats,
  LedgerEntry,
  LedgerFilter,
  PendingApproval,
  RecentFact,
  RecentFilter,
  RunDetail,
  RunRecord,
} from "../protocol/live-report.ts";
import type { FunctionOutcome } from "../protocol/messages/functions.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { CauseCarrier } from "./causality/cause-tokens.ts";
import type { FunctionCallOptions, FunctionTarget } from "./functions/function-calls.ts";
import type { DeclaredFunction } from "./functions/functions.ts";
import type { ServiceReport } from "./plugins/plugin-services.ts";
import type { Fact, FactName } from "./report/events.ts";
import type { PluginReport } from "./report/inspect.ts";
import type { RunFilter } from "./report/run-record.ts";
import type { RequestApproval } from "./run/approvals/approvals.ts";
import type { RememberedApproval, RevokedApproval } from "./run/approvals/memory.ts";
import type { SessionEntry, SessionPatch } from "./services/session/session.ts";
import type { WallsReport } from "./supervisor/launch/walls-report.ts";
import type { ExecuteTurn, TurnContext, TurnOptions, TurnOutcome } from "./turn.ts";

export interface RunOptions {
  readonly signal?: AbortSignal;
  /**
   * Only this plugin's handlers: for hooks that concern one plugin, such as the owner of a conversation. If the host does not
   * have the plugin, or the plugin is switched off, the run follows the hook's failure policy.
   */
  readonly plugin?: string;
  /** Only handlers that were registered with this priority. */
  readonly priority?: number;
  /**
   * Asks the user about this run, instead of the gateway's `requestApproval`. The caller takes charge: operators see such an approval
   * in `pendingApprovals`, and cannot answer it.
   */
  readonly requestApproval?: RequestApproval;
  /** Approvals: false leaves remembering an "always" to the caller; the host neither keeps one nor uses one. */
  readonly remember?: boolean;
  /** 2: another host may have begun this run and did not answer. Handlers see it as `ctx.attempt`. Default: 1. */
  readonly attempt?: number;
}

/** What `emit` takes for an event of a durable hook. */
export interface EmitOptions {
  /**
   * Becomes `ctx.delivery.id`, at most 64 characters. For an event that is emitted again because the caller does not know whether it was
   * kept: while the first one waits for its plugins, the second adds nothing; later, plugins see the same id. Default: a random one.
   */
  readonly id?: string;
}

/** An event of a durable hook. */
export interface Emitted {
  readonly kept: Promise<void>;
}

/** What `runSync` takes: a caller that cannot await has no signal and asks no user. */
export type SyncRunOptions = Pick<RunOptions, "plugin" | "priority">;

export interface ReloadOptions {
  /** Replaces `plugins.entries.<id>` from this load on: new settings without a new host. */
  readonly entry?: PluginEntry;
}

/** `T` is the table of hooks this host knows: the catalog's, and the gateway's own. */
export interface Host<T extends HookTable = Catalog> extends AsyncDisposable {
  readonly id: string;
  /** The folder for what must survive a restart; undefined: nothing survives, or the host is in another process. */
  readonly stateDir: string | undefined;
  /** Runs a hook. Rejects only for the caller's own mistakes: unknown hook, invalid event, closed host, aborted signal. */
  run<N extends keyof T & string>(
    hook: N,
    event: EventOf<T[N]>,
    ctx?: ContextOf<T[N]>,
    options?: RunOptions,
  ): Promise<Outcome<ResultOf<T[N]>, DecisionOf<T[N]>>>;
  /**
   * Observe hooks: returns at once, never throws. Of a durable hook it returns `kept`, a promise that resolves once the event is
   * committed to the outbox and rejects if it cannot be; a rejection that nobody awaits is only logged.
   */
  // Not NamesOfKind: TypeScript would print that alias with the whole catalog in it, where a list of hooks should be. So for runSync.
  emit<N extends NameByKind<T, "observe">[keyof T] & string>(
    hook: N,
    event: EventOf<T[N]>,
    ctx?: ContextOf<T[N]>,
    options?: EmitOptions,
  ): Emitted | undefined;
  /** The sync kind: blocks the caller for at most the handlers' budgets. */
  runSync<N extends NameByKind<T, "sync">[keyof T] & string>(
    hook: N,
    event: EventOf<T[N]>,
    ctx?: ContextOf<T[N]>,
    options?: SyncRunOptions,
  ): Outcome<ResultOf<T[N]>, DecisionOf<T[N]>>;
  /** False: no plugin listens, and `run` costs next to nothing. */
  has(hook: keyof T & string): boolean;
  /** Wraps a turn of the gateway's agent with beforeTurn, afterTurn and onTurnError. */
  turn<V>(ctx: TurnContext, execute: ExecuteTurn<V>, options?: TurnOptions): Promise<TurnOutcome<V>>;
  /** Patches a session through the gateway's `patchSession` and, once that has succeeded, emits `session:patch`. */
  patchSession(patch: SessionPatch): Promise<SessionEntry>;
  /**
   * For a request that reaches the gateway over HTTP because a plugin called a server: runs `work` as caused by that plugin, so that
   * the host detects loops. `headers` are the request's; without a token of this host in them, `work` just runs. Returns what `work`
   * returns.
   */
  rejoin<V>(headers: CauseCarrier, work: () => V): V;
  /**
   * The token that `rejoin` takes, for the work being done now; undefined: no plugin has caused it. For a gateway that hands its work
   * to another process.
   */
  causeToken(): string | undefined;
  /**
   * What users have allowed always: which plugin's request, for which tool and agent. `revokeApproval` makes the host ask again: about
   * one request or, without a title, about every request of that plugin for this tool and agent.
   */
  approvals(): RememberedApproval[];
  revokeApproval(approval: RevokedApproval): boolean;
  /** Approvals that wait for an answer now, the oldest first. Titles and parameters are plugins' and agents' texts: escape them. */
  pendingApprovals(): Promise<PendingApproval[]>;
  /**
   * Answers one, by its id and the digest of what was shown. The first valid answer wins; the receipt says whether it was this one,
   * and if not, how the approval ended. Never rejects because of the answer.
   */
  answerApproval(reply: ApprovalReply, from?: AnswerOrigin): Promise<ApprovalReceipt>;
  /** Who decided what, when and from where, the latest first. */
  approvalLedger(filter?: LedgerFilter): Promise<LedgerEntry[]>;
  /**
   * A user or client can answer approvals of all runs from now on, until the returned function is called: calls wait for `answerApproval` even
   * if their gateway has no user to ask, instead of being blocked at once.
   */
  offerAnswers(): () => void;
  plugins(): PluginReport[];
  inspect(plugin: string): PluginReport;
  /**
   * Loads the current version of the plugin; an installed plugin with its current lock entry. The old version serves runs until the new
   * one has loaded. If the new one fails, the old one stays: the report then says `ready`, and `error` says why. Runs that began with
   * the old version finish there.
   */
  reload(plugin: string, options?: ReloadOptions): Promise<PluginReport>;
  disable(plugin: string): void;
  /** Lets a plugin out of quarantine: it starts afresh, as if it had never failed. */
  release(plugin: string): Promise<PluginReport>;
  /** What plugins have declared for agents and users. If two share a name, the first plugin has it; `inspect` says so for the other. */
  tools(): DeclaredFunction<"tool">[];
  commands(): DeclaredFunction<"command">[];
  /** Methods that plugins add to the gateway. A method answers `{ ok, payload, error }`. */
  methods(): DeclaredFunction<"method">[];
  /** Paths that plugins add to the gateway's HTTP server; `serveRoutes` serves them. */
  routes(): DeclaredFunction<"route">[];
  /** Command lines for the operator. `call({ cli }, { argv })` answers `{ exitCode, stdout, stderr }`. */
  commandLines(): DeclaredFunction<"cli">[];
  /** Background work that plugins have registered; the host starts and stops it. */
  services(): ServiceReport[];
  /** Calls a tool or a method with its parameters, or a command with its text. Rejects only for the caller's own mistakes. */
  call(target: FunctionTarget, argument?: unknown, options?: FunctionCallOptions): Promise<FunctionOutcome>;
  /** Returns the function that ends the subscription. */
  on<K extends FactName>(fact: K, listener: (fact: Fact<K>) => void): () => void;
  /** The runs in flight, then the latest ones that have ended, passes included: `LIMITS.report.runs` at most. Each kind has half of it, or what the other leaves. */
  runs(filter?: RunFilter): Promise<RunRecord[]>;
  /** One of these with its data: what each handler saw, returned and changed, and its log lines. Texts are plugins': escape them. */
  runDetail(runId: string): Promise<RunDetail | undefined>;
  /**
   * What happened before the caller looked, the oldest first: log lines of plugins, and rare facts such as restarts, quarantines, loops and
   * refused requests. So many of each kind: `LIMITS.report`. Texts are plugins': escape them.
   */
  recentFacts(filter?: RecentFilter): Promise<RecentFact[]>;
  /** Everything the host measures: rates, durations, CPU, memory, queues. */
  stats(): Promise<HostStats>;
  /** Process ids of the sandbox; empty with thread isolation. */
  pids(): number[];
  /** Which walls stand around the sandbox process, which do not, why, and what to do about it. */
  walls(): WallsReport;
  /**
   * Lets the program end although the host is open, as `unref` of a server does: runs in flight end with it. With thread isolation the
   * threads still keep it alive. A host that was forgotten says so once in its log.
   */
  unref(): void;
  /** Undoes `unref`. */
  ref(): void;
  /** Lets runs in flight finish, then ends the sandbox. */
  close(): Promise<void>;
}

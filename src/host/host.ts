/**
 * Trusted side: the host in this process. Public methods only: compose.ts wires the parts behind them, run-dispatcher.ts runs hooks,
 * lifecycle.ts opens and closes. The catalog's types are put on here; the parts work with untyped events.
 */
import type { QuarantineEntry } from "./blame/quarantine-file.ts";
import type { Catalog, ContextOf, DecisionOf, EventOf, HookTable, NameByKind, ResultOf } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
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
import { compose } from "./compose.ts";
import type { HostParts } from "./compose.ts";
import type { HostOptions } from "./host-options.ts";
import type { Durable } from "./durable/durable.ts";
import type { FunctionCallOptions, FunctionTarget } from "./functions/function-calls.ts";
import type { DeclaredFunction } from "./functions/functions.ts";
import type { EmitOptions, Emitted, Host, ReloadOptions, RunOptions, SyncRunOptions } from "./host-api.ts";
import { Forgotten } from "./forgotten.ts";
import { closeParts, lanesReached, openParts, openSyncLines } from "./lifecycle.ts";
import type { Plugin } from "./plugins/plugin.ts";
import type { ServiceReport } from "./plugins/plugin-services.ts";
import type { Fact, FactName } from "./report/events.ts";
import { inspect } from "./report/inspect.ts";
import type { PluginReport } from "./report/inspect.ts";
import { hostStats } from "./report/host-stats.ts";
import type { RunFilter } from "./report/run-record.ts";
import type { RememberedApproval, RevokedApproval } from "./run/approvals/memory.ts";
import type { RunDispatcher } from "./run-dispatcher.ts";
import type { KvBackend } from "./services/kv/kv-backend.ts";
import type { SessionEntry, SessionPatch } from "./services/session/session.ts";
import type { WallsReport } from "./supervisor/launch/walls-report.ts";
import { runTurn } from "./turn.ts";
import type { ExecuteTurn, TurnContext, TurnOptions, TurnOutcome } from "./turn.ts";

export class CoreHost<T extends HookTable = Catalog> implements Host<T> {
  readonly id: string;
  readonly stateDir: string | undefined;
  readonly #options: HostOptions;
  readonly #parts: HostParts;
  readonly #runs: RunDispatcher;
  /** Undefined: no hook is durable, as nearly always. */
  readonly #durable: Durable | undefined;
  readonly #forgotten: Forgotten;
  #closing: Promise<void> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#parts = compose(options);
    this.#runs = this.#parts.runs;
    this.#durable = this.#parts.durable;
    this.id = this.#parts.id;
    this.stateDir = options.stateDir;
    const { supervisor, runs } = this.#parts;
    this.#forgotten = new Forgotten({
      hold: (isHeld) => supervisor.setRef(isHeld),
      isBusy: () => runs.inFlight > 0,
      logger: options.logger,
    });
  }

  /**
   * Starts the sandbox and loads the plugins. Rejects when the sandbox does not start and, unless failed plugins are allowed, when a
   * plugin does not load and its hooks are not known. `found`: the search for plugins may still be going on.
   */
  async open(found: Promise<readonly Plugin[]>): Promise<void> {
    await openParts(this.#parts, found, this.#options);
    if (!this.#closing) this.#forgotten.watch();
  }

  ref(): void {
    this.#forgotten.setRef(true);
  }

  unref(): void {
    this.#forgotten.setRef(false);
  }

  // Not async: each promise on this path costs.
  run<N extends keyof T & string>(
    hook: N,
    event: EventOf<T[N]>,
    ctx?: ContextOf<T[N]>,
    options?: RunOptions,
  ): Promise<Outcome<ResultOf<T[N]>, DecisionOf<T[N]>>> {
    const runs = this.#durable?.takes(hook) ? this.#durable : this.#runs;
    return runs.run(hook, event, ctx, options) as Promise<Outcome<ResultOf<T[N]>, DecisionOf<T[N]>>>;
  }

  emit<N extends NameByKind<T, "observe">[keyof T] & string>(
    hook: N,
    event: EventOf<T[N]>,
    ctx?: ContextOf<T[N]>,
    options?: EmitOptions,
  ): Emitted | undefined {
    if (this.#durable?.takes(hook)) return this.#durable.emit(hook, event, ctx, options);
    this.#runs.emit(hook, event, ctx);
    return undefined;
  }

  runSync<N extends NameByKind<T, "sync">[keyof T] & string>(
    hook: N,
    event: EventOf<T[N]>,
    ctx?: ContextOf<T[N]>,
    options?: SyncRunOptions,
  ): Outcome<ResultOf<T[N]>, DecisionOf<T[N]>> {
    return this.#runs.runSync(hook, event, ctx, options) as Outcome<ResultOf<T[N]>, DecisionOf<T[N]>>;
  }

  has(hook: keyof T & string): boolean {
    return this.#runs.has(hook);
  }

  turn<V>(ctx: TurnContext, execute: ExecuteTurn<V>, options?: TurnOptions): Promise<TurnOutcome<V>> {
    return runTurn(this.#durable ? (this as never) : this.#runs, ctx, execute, options);
  }

  patchSession(patch: SessionPatch): Promise<SessionEntry> {
    return this.#parts.sessions.patch(patch);
  }

  /** For `creel serve`: runs that begin in `work` are children of the client's span. */
  tracedUnder<V>(traceparent: string, work: () => V): V {
    const { tracing } = this.#parts;
    return tracing ? tracing.under(traceparent, work) : work();
  }

  rejoin<V>(headers: CauseCarrier, work: () => V): V {
    return this.#parts.causes.rejoin(headers, work);
  }

  causeToken(): string | undefined {
    return this.#parts.causes.currentToken();
  }

  approvals(): RememberedApproval[] {
    return this.#parts.approvals.remembered();
  }

  revokeApproval(approval: RevokedApproval): boolean {
    return this.#parts.approvals.revoke(approval);
  }

  async pendingApprovals(): Promise<PendingApproval[]> {
    return this.#parts.approvals.desk.list();
  }

  async answerApproval(reply: ApprovalReply, from: AnswerOrigin = "gateway"): Promise<ApprovalReceipt> {
    return this.#parts.approvals.desk.answer(reply, from);
  }

  approvalLedger(filter?: LedgerFilter): Promise<LedgerEntry[]> {
    return this.#parts.approvals.ledger.list(filter);
  }

  offerAnswers(): () => void {
    return this.#parts.approvals.desk.offer();
  }

  plugins(): PluginReport[] {
    return this.#parts.plugins.list().map((plugin) => this.#inspect(plugin));
  }

  inspect(plugin: string): PluginReport {
    return this.#inspect(this.#parts.plugins.get(plugin));
  }

  async reload(plugin: string, { entry }: ReloadOptions = {}): Promise<PluginReport> {
    this.#checkOpen();
    if (entry !== undefined) this.#options.configure(plugin, entry);
    const report = await this.#parts.plugins.reload(plugin, (reloaded) => this.#inspect(reloaded));
    openSyncLines(this.#parts);
    return report;
  }

  disable(plugin: string): void {
    this.#parts.plugins.disable(plugin);
  }

  /** What is in quarantine for good, for the other hosts of a fleet. */
  quarantined(): Map<string, QuarantineEntry> {
    const { plugins, breaker } = this.#parts;
    return new Map(
      plugins.list().flatMap((plugin) => {
        const entry = breaker.quarantined(plugin);
        return entry ? [[plugin.id, entry] as const] : [];
      }),
    );
  }

  /** Another host of the fleet has quarantined this code. False: this host does not have it, or has done so, too. */
  isolate(plugin: string, entry: QuarantineEntry): boolean {
    const found = this.#parts.plugins.find(plugin);
    return found !== undefined && this.#parts.breaker.adopt(found, entry);
  }

  async release(plugin: string): Promise<PluginReport> {
    this.#checkOpen();
    await this.#parts.plugins.release(plugin);
    openSyncLines(this.#parts);
    return this.inspect(plugin);
  }

  tools(): DeclaredFunction<"tool">[] {
    return this.#parts.functions.list("tool");
  }

  commands(): DeclaredFunction<"command">[] {
    return this.#parts.functions.list("command");
  }

  methods(): DeclaredFunction<"method">[] {
    return this.#parts.functions.list("method");
  }

  routes(): DeclaredFunction<"route">[] {
    return this.#parts.functions.list("route");
  }

  commandLines(): DeclaredFunction<"cli">[] {
    return this.#parts.functions.list("cli");
  }

  services(): ServiceReport[] {
    return this.#parts.pluginServices.list();
  }

  async call(target: FunctionTarget, argument?: unknown, options: FunctionCallOptions = {}): Promise<FunctionOutcome> {
    this.#checkOpen();
    return this.#parts.functionCalls.call(target, argument, options);
  }

  on<K extends FactName>(fact: K, listener: (fact: Fact<K>) => void): () => void {
    return this.#parts.events.on(fact, listener);
  }

  async runs(filter?: RunFilter): Promise<RunRecord[]> {
    return this.#parts.history.runs(filter);
  }

  async runDetail(runId: string): Promise<RunDetail | undefined> {
    return this.#parts.history.detail(runId);
  }

  async recentFacts(filter?: RecentFilter): Promise<RecentFact[]> {
    return this.#parts.recent.list(filter);
  }

  async stats(): Promise<HostStats> {
    const outbox = await this.#durable?.report();
    return { ...hostStats(this.#parts), ...(outbox && { outbox }) };
  }

  pids(): number[] {
    return this.#parts.supervisor.pids();
  }

  walls(): WallsReport {
    return this.#options.walls();
  }

  /** Resolves when every log line of the calls answered so far has arrived. For Creel's own tools; not part of `Host`. */
  logsArrived(): Promise<void> {
    return lanesReached(this.#parts);
  }

  /** For `creel/testing`, not part of `Host`: a plugin's entries. */
  entries(plugin: string): Promise<KvBackend> {
    return this.#parts.kv.store(this.#parts.plugins.get(plugin));
  }

  /**
   * For `creel serve`, not part of `Host`: does the work of one client, so that plugins' questions about sessions and approvals find the
   * client again.
   */
  servedTo<V>(client: string, work: () => V): V {
    return this.#parts.causes.servedTo(client, work);
  }

  /** The client whose run or request caused the current work; undefined: none did. */
  servedClient(): string | undefined {
    return this.#parts.causes.client;
  }

  close(): Promise<void> {
    this.#forgotten.stop();
    // What is awaited while it closes needs the handles.
    if (!this.#closing) this.ref();
    this.#closing ??= closeParts(this.#parts);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #inspect(plugin: Plugin): PluginReport {
    return inspect(plugin, this.#parts, this.#options);
  }

  #checkOpen(): void {
    if (this.#closing) throw new CreelError("ERR_HOST_CLOSED");
  }
}

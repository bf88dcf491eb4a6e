/**
 * Trusted side: a host in another process, joined over the socket of `creel serve`. It implements the same interface. Synchronous methods
 * (`has`, `plugins`, `tools` …) read a copy that the host keeps fresh. A run that the host cannot judge, because it is away or because a
 * socket cannot block (`runSync`), follows the failure policy of its hook (away.ts).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { resolve as resolvePath } from "node:path";
import { CATALOG, familyOf } from "../../protocol/catalog.ts";
import type { Catalog, ContextOf, DecisionOf, EventOf, HookName, HookTable, NamesOfKind, ResultOf } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { FunctionOutcome } from "../../protocol/messages/functions.ts";
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
} from "../../protocol/live-report.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { ServeMethod, ServeState } from "../../protocol/serve.ts";
import { isMeant } from "../../host/run/approvals/memory.ts";
import type { RememberedApproval, RevokedApproval } from "../../host/run/approvals/memory.ts";
import type { ApprovalQuestion } from "../../host/run/approvals/question.ts";
import { otelApi } from "../../host/telemetry/otel-api.ts";
import { CallerSpans } from "../../host/telemetry/caller-spans.ts";
import { tokenIn } from "../../host/causality/cause-tokens.ts";
import type { CauseCarrier } from "../../host/causality/cause-tokens.ts";
import type { Fact, FactName } from "../../host/report/events.ts";
import type { RunFilter } from "../../host/report/run-record.ts";
import type { FunctionCallOptions, FunctionTarget } from "../../host/functions/function-calls.ts";
import type { DeclaredFunction } from "../../host/functions/functions.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import { defaultLogger } from "../../host/report/log.ts";
import type { Logger } from "../../host/report/log.ts";
import type { WallsReport } from "../../host/supervisor/launch/walls-report.ts";
import type { ServiceReport } from "../../host/plugins/plugin-services.ts";
import type { SessionEntry, SessionPatch } from "../../host/services/session/session.ts";
import type { EmitOptions, Emitted, Host, ReloadOptions, RunOptions, SyncRunOptions } from "../../host/host-api.ts";
import { Forgotten } from "../../host/forgotten.ts";
import { checkNames } from "../known-options.ts";
import type { OpenOptions } from "../options.ts";
import { Away, isMistake } from "./away.ts";
import type { LastKnown } from "./away.ts";
import { DurableEmits } from "./durable-emits.ts";
import { JoinedLink } from "./joined-link.ts";
import type { JoinedOptions } from "./joined-link.ts";
import type { Question, RequestOptions } from "./host-link.ts";
import { ServeLink } from "./serve-link.ts";
import { runTurn } from "../../host/turn.ts";
import type { ExecuteTurn, TurnContext, TurnOptions, TurnOutcome } from "../../host/turn.ts";

/** The cause token of the request that the gateway is answering, so that its developer need not pass it on. */
const answering = new AsyncLocalStorage<{ readonly host: RemoteHost; readonly cause: string | undefined }>();

/** `to`: another place than the socket of `connect`. */
export async function joinHost(options: OpenOptions, to?: Pick<JoinedOptions, "place" | "open">): Promise<Host> {
  checkNames(options);
  const { connect, gateway = {}, logger = defaultLogger(), telemetry } = options;
  const spans = telemetry ? new CallerSpans(await otelApi(), telemetry === true ? {} : telemetry) : undefined;
  const host = new RemoteHost(to ?? socketAt(resolvePath(connect!)), gateway, logger, spans);
  await host.open();
  return host;
}

function socketAt(path: string): Pick<JoinedOptions, "place" | "open"> {
  return { place: path, open: (options) => ServeLink.open({ ...options, path }) };
}

const NOTHING_DECIDED = { result: undefined, by: undefined, reason: undefined };
const NOTHING_RETURNED: Partial<FunctionOutcome> = { value: undefined, error: undefined };

class RemoteHost implements Host {
  readonly stateDir = undefined;
  readonly #joined: JoinedLink;
  readonly #logger: Logger;
  readonly #away: Away;
  readonly #spans: CallerSpans | undefined;
  readonly #emits: DurableEmits;
  readonly #forgotten: Forgotten;

  constructor(
    to: Pick<JoinedOptions, "place" | "open">,
    gateway: NonNullable<OpenOptions["gateway"]>,
    logger: Logger,
    spans: CallerSpans | undefined,
  ) {
    this.#logger = logger;
    this.#spans = spans;
    this.#away = new Away(logger);
    this.#joined = new JoinedLink({
      ...to,
      gateway,
      logger,
      answering: ({ cause }, work) => answering.run({ host: this, cause }, work),
    });
    this.#emits = new DurableEmits(this.#joined, logger);
    const joined = this.#joined;
    this.#forgotten = new Forgotten({ hold: (isHeld) => joined.setRef(isHeld), isBusy: () => joined.isBusy, logger });
  }

  async open(): Promise<void> {
    await this.#joined.connected();
    this.#forgotten.watch();
  }

  ref(): void {
    this.#forgotten.setRef(true);
  }

  unref(): void {
    this.#forgotten.setRef(false);
  }

  get id(): string {
    return this.#joined.hostId;
  }

  async run<N extends HookName>(
    hook: N,
    event: EventOf<Catalog[N]>,
    ctx?: ContextOf<Catalog[N]>,
    options: RunOptions = {},
  ): Promise<Outcome<ResultOf<Catalog[N]>, DecisionOf<Catalog[N]>>> {
    const { signal, plugin, priority, requestApproval, remember, attempt } = options;
    signal?.throwIfAborted();
    const asked =
      requestApproval &&
      (({ params, cause }: Question, stop: AbortSignal) =>
        answering.run({ host: this, cause }, () => requestApproval(params as unknown as ApprovalQuestion, { signal: stop })));
    const params = { hook, event, ctx, plugin, priority, remember, attempt, ...(requestApproval && { approvals: true }) };
    try {
      const traceparent = this.#spans?.traceparent(hook, event, ctx);
      const found = await this.#request("run", params, { signal, asked, traceparent }, hook);
      // JSON drops undefined fields: add them again.
      return { ...NOTHING_DECIDED, ...(found as Outcome<ResultOf<Catalog[N]>, DecisionOf<Catalog[N]>>) };
    } catch (error) {
      if (this.#joined.isClosed || signal?.aborted || isMistake(error)) throw error;
      return this.#away.outcome(hook, messageOf(error), this.#lastKnown(), options) as Outcome<
        ResultOf<Catalog[N]>,
        DecisionOf<Catalog[N]>
      >;
    }
  }

  emit(hook: string, event: unknown, ctx?: unknown, options?: EmitOptions): Emitted | undefined {
    const cause = this.causeToken();
    if (this.#isDurable(hook)) return this.#emits.emit({ hook, event, ctx }, cause, options);
    const failed = (error: unknown): void => this.#logger.error({ hook, err: error }, "an emitted event was not delivered");
    this.#joined.tell("emit", { hook, event, ctx }, cause, failed);
    return undefined;
  }

  runSync<N extends NamesOfKind<Catalog, "sync">>(
    name: N,
    _event: EventOf<Catalog[N]>,
    _ctx?: ContextOf<Catalog[N]>,
    options?: SyncRunOptions,
  ): Outcome<ResultOf<Catalog[N]>, DecisionOf<Catalog[N]>> {
    const { kind } = (CATALOG as HookTable)[name] ?? {};
    if (this.#joined.isClosed) throw new CreelError("ERR_HOST_CLOSED");
    if (kind !== undefined && kind !== "sync") throw new CreelError("ERR_HOOK_KIND", { hook: name, kind, use: "await host.run for it" });
    const { message } = new CreelError("ERR_SERVE_UNABLE", { what: "runSync" });
    return this.#away.outcome(name, message, this.#lastKnown(), options) as Outcome<ResultOf<Catalog[N]>, DecisionOf<Catalog[N]>>;
  }

  has(hook: string): boolean {
    return this.#known().hooks.includes(hook);
  }

  turn<V>(ctx: TurnContext, execute: ExecuteTurn<V>, options?: TurnOptions): Promise<TurnOutcome<V>> {
    return runTurn(this, ctx, execute, options);
  }

  async patchSession(patch: SessionPatch): Promise<SessionEntry> {
    return (await this.#request("patchSession", { patch })) as SessionEntry;
  }

  rejoin<V>(headers: CauseCarrier, work: () => V): V {
    const cause = tokenIn(headers);
    return cause === undefined ? work() : answering.run({ host: this, cause }, work);
  }

  causeToken(): string | undefined {
    const store = answering.getStore();
    return store?.host === this ? store.cause : undefined;
  }

  approvals(): RememberedApproval[] {
    return this.#known().approvals as unknown as RememberedApproval[];
  }

  revokeApproval(approval: RevokedApproval): boolean {
    this.#order("revokeApproval", approval);
    return this.approvals().some((known) => isMeant(approval, known));
  }

  async pendingApprovals(): Promise<PendingApproval[]> {
    return (await this.#request("pendingApprovals", {})) as PendingApproval[];
  }

  async answerApproval(reply: ApprovalReply, from?: AnswerOrigin): Promise<ApprovalReceipt> {
    return (await this.#request("answerApproval", { ...reply, ...(from !== "gateway" && { from }) })) as ApprovalReceipt;
  }

  async approvalLedger(filter: LedgerFilter = {}): Promise<LedgerEntry[]> {
    return (await this.#request("approvalLedger", filter)) as LedgerEntry[];
  }

  offerAnswers(): () => void {
    return this.#joined.offerAnswers();
  }

  plugins(): PluginReport[] {
    return this.#known().plugins as unknown as PluginReport[];
  }

  inspect(plugin: string): PluginReport {
    const found = this.plugins().find(({ id }) => id === plugin);
    if (!found) throw new CreelError("ERR_PLUGIN_UNKNOWN", { plugin });
    return found;
  }

  async reload(plugin: string, { entry }: ReloadOptions = {}): Promise<PluginReport> {
    // The settings of a served host belong to its operator.
    if (entry !== undefined) throw new CreelError("ERR_SERVE_UNABLE", { what: "reload with an entry" });
    return (await this.#request("reload", { plugin })) as PluginReport;
  }

  disable(plugin: string): void {
    this.inspect(plugin);
    this.#order("disable", { plugin });
  }

  async release(plugin: string): Promise<PluginReport> {
    return (await this.#request("release", { plugin })) as PluginReport;
  }

  tools(): DeclaredFunction<"tool">[] {
    return this.#known().tools as unknown as DeclaredFunction<"tool">[];
  }

  commands(): DeclaredFunction<"command">[] {
    return this.#known().commands as unknown as DeclaredFunction<"command">[];
  }

  methods(): DeclaredFunction<"method">[] {
    return this.#known().methods as unknown as DeclaredFunction<"method">[];
  }

  routes(): DeclaredFunction<"route">[] {
    return this.#known().routes as unknown as DeclaredFunction<"route">[];
  }

  commandLines(): DeclaredFunction<"cli">[] {
    return this.#known().commandLines as unknown as DeclaredFunction<"cli">[];
  }

  services(): ServiceReport[] {
    return this.#known().services as unknown as ServiceReport[];
  }

  async call(target: FunctionTarget, argument?: unknown, { signal, ctx, onUpdate }: FunctionCallOptions = {}): Promise<FunctionOutcome> {
    signal?.throwIfAborted();
    const updated =
      onUpdate &&
      ((update: unknown, dropped: number) =>
        this.#joined.subscriptions.safely(() => onUpdate(update, ...(dropped > 0 ? [{ dropped }] : []))));
    const found = await this.#request("call", { target, argument, ctx, updates: onUpdate !== undefined }, { signal, updated });
    return { ...NOTHING_RETURNED, ...(found as FunctionOutcome) };
  }

  on<K extends FactName>(fact: K, listener: (fact: Fact<K>) => void): () => void {
    return this.#joined.subscriptions.add(fact, listener);
  }

  async runs(filter: RunFilter = {}): Promise<RunRecord[]> {
    return (await this.#request("runs", filter)) as RunRecord[];
  }

  async runDetail(runId: string): Promise<RunDetail | undefined> {
    return ((await this.#request("runDetail", { runId })) as RunDetail | null) ?? undefined;
  }

  async recentFacts(filter: RecentFilter = {}): Promise<RecentFact[]> {
    return (await this.#request("recentFacts", filter)) as RecentFact[];
  }

  async stats(): Promise<HostStats> {
    return (await this.#request("stats", {})) as HostStats;
  }

  pids(): number[] {
    return this.#known().pids;
  }

  walls(): WallsReport {
    return this.#known().walls as unknown as WallsReport;
  }

  /** Closes the connection; the host goes on. Runs in flight may finish, for a while. */
  async close(): Promise<void> {
    this.#forgotten.stop();
    if (!this.#joined.isClosed) this.ref();
    await this.#emits.close();
    await this.#joined.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #known(): ServeState {
    return this.#joined.known();
  }

  #lastKnown(): LastKnown {
    return { id: this.id, hooks: this.#known().hooks, plugins: this.plugins() };
  }

  /** As the host said last: are events of this hook kept, for one plugin at least? */
  #isDurable(hook: string): boolean {
    const family = familyOf(hook);
    return this.plugins().some(({ hooks }) => hooks.some(({ hook: name, isDurable }) => isDurable && (name === hook || name === family)));
  }

  #request(method: ServeMethod, params: object, options: RequestOptions = {}, hook: string = method): Promise<unknown> {
    return this.#joined.request(method, params, { ...options, cause: this.causeToken() }, hook);
  }

  /** Sends a request whose answer is not needed. */
  #order(method: ServeMethod, params: object): void {
    this.#joined.order(method, params, this.causeToken());
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

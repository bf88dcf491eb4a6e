/**
 * Trusted side: a host in another process, joined over the socket of `creel serve`. It has the face of a host in this one. What that tells at
 * once (`has`, `plugins`, `tools` …) is told from a copy that the host keeps fresh; what cannot be done over a socket says so.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { resolve as resolvePath } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../protocol/errors.ts";
import type { FunctionOutcome } from "../protocol/functions.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { OFFERS } from "../protocol/serve.ts";
import type { Offer, ServeMethod, ServeState } from "../protocol/serve.ts";
import type { ApprovalQuestion, RememberedApproval } from "../host/approvals.ts";
import { tokenIn } from "../host/cause-tokens.ts";
import type { CauseCarrier } from "../host/cause-tokens.ts";
import type { FactName, Facts } from "../host/events.ts";
import type { FunctionCallOptions, FunctionTarget } from "../host/function-calls.ts";
import type { DeclaredFunction } from "../host/functions.ts";
import type { RunOptions } from "../host/host.ts";
import type { PluginReport } from "../host/inspect.ts";
import { defaultLogger } from "../host/log.ts";
import type { Logger } from "../host/log.ts";
import type { ServiceReport } from "../host/plugin-services.ts";
import type { SessionEntry, SessionPatch } from "../host/services/session.ts";
import type { Host } from "./gateway.ts";
import type { OpenOptions } from "./options.ts";
import { ServeLink } from "./serve-link.ts";
import type { Question, RequestOptions } from "./serve-link.ts";
import { runTurn } from "./turn.ts";
import type { ExecuteTurn, TurnContext, TurnHost, TurnOptions, TurnOutcome } from "./turn.ts";

/** The token of the question that is being answered, so that the gateway's developer passes nothing on by hand. */
const answering = new AsyncLocalStorage<{ readonly host: RemoteHost; readonly cause: string | undefined }>();

const ELSEWHERE = ["isolation", "lanes", "config", "plugins", "hooks", "rewrites"] as const;

export async function joinHost(options: OpenOptions): Promise<Host> {
  for (const field of ELSEWHERE)
    if (options[field] !== undefined)
      throw new CreelError("ERR_HOST_OPTIONS", {
        field,
        detail: "a host that is joined with connect has its own; set it where creel serve is started",
      });
  const host = new RemoteHost(resolvePath(options.connect!), options.gateway ?? {}, options.logger ?? defaultLogger());
  await host.open();
  return host as unknown as Host;
}

const NOTHING_DECIDED: Partial<Outcome> = { result: undefined, by: undefined, reason: undefined };
const NOTHING_RETURNED: Partial<FunctionOutcome> = { value: undefined, error: undefined };

interface Subscription {
  readonly fact: FactName;
  readonly listener: (fact: never) => void;
  /** On the connection there is now. */
  id: number | undefined;
}

export class RemoteHost implements AsyncDisposable {
  readonly #path: string;
  readonly #gateway: NonNullable<OpenOptions["gateway"]>;
  readonly #logger: Logger;
  readonly #subscriptions = new Set<Subscription>();
  #link: ServeLink | undefined;
  #opening: Promise<ServeLink> | undefined;
  #isClosed = false;
  /** What was known last. */
  #id = "";
  #state: ServeState | undefined;

  constructor(path: string, gateway: NonNullable<OpenOptions["gateway"]>, logger: Logger) {
    this.#path = path;
    this.#gateway = gateway;
    this.#logger = logger;
  }

  async open(): Promise<void> {
    await this.#connected();
  }

  get id(): string {
    return this.#id;
  }

  async run(hook: string, event: unknown, ctx?: unknown, { signal, plugin }: RunOptions = {}): Promise<Outcome> {
    signal?.throwIfAborted();
    const found = await this.#request("run", { hook, event, ctx, plugin }, { signal }, hook);
    // JSON has no undefined: the fields are there all the same.
    return { ...NOTHING_DECIDED, ...(found as Outcome) };
  }

  emit(hook: string, event: unknown, ctx?: unknown): void {
    const cause = this.causeToken();
    const failed = (error: unknown): void => this.#logger.error({ hook, err: error }, "an emitted event was not delivered");
    const tell = (link: ServeLink): void => link.tell("emit", { hook, event, ctx }, cause);
    try {
      if (this.#link?.isOpen) tell(this.#link);
      else this.#connected().then(tell).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  runSync(): never {
    throw new CreelError("ERR_SERVE_UNABLE", { what: "runSync" });
  }

  has(hook: string): boolean {
    return this.#known().hooks.includes(hook);
  }

  turn<V>(ctx: TurnContext, execute: ExecuteTurn<V>, options?: TurnOptions): Promise<TurnOutcome<V>> {
    return runTurn(this as unknown as TurnHost, ctx, execute, options);
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

  revokeApproval(approval: RememberedApproval): boolean {
    const same = (other: RememberedApproval): boolean =>
      other.pluginId === approval.pluginId && other.toolName === approval.toolName && other.agentId === approval.agentId;
    const { pluginId, toolName, agentId } = approval;
    this.#order("revokeApproval", { pluginId, toolName, agentId });
    return this.approvals().some(same);
  }

  plugins(): PluginReport[] {
    return this.#known().plugins as unknown as PluginReport[];
  }

  inspect(plugin: string): PluginReport {
    const found = this.plugins().find(({ id }) => id === plugin);
    if (!found) throw new CreelError("ERR_PLUGIN_UNKNOWN", { plugin });
    return found;
  }

  async reload(plugin: string): Promise<PluginReport> {
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

  services(): ServiceReport[] {
    return this.#known().services as unknown as ServiceReport[];
  }

  async call(target: FunctionTarget, argument?: unknown, { signal, ctx, onUpdate }: FunctionCallOptions = {}): Promise<FunctionOutcome> {
    signal?.throwIfAborted();
    const updated = onUpdate && ((update: unknown) => this.#safely(() => onUpdate(update)));
    const found = await this.#request("call", { target, argument, ctx, updates: onUpdate !== undefined }, { signal, updated });
    return { ...NOTHING_RETURNED, ...(found as FunctionOutcome) };
  }

  on<K extends FactName>(fact: K, listener: (fact: Facts[K]) => void): () => void {
    const subscription: Subscription = { fact, listener, id: undefined };
    this.#subscriptions.add(subscription);
    if (this.#link?.isOpen) this.#subscribe(this.#link, subscription);
    return () => {
      this.#subscriptions.delete(subscription);
      if (subscription.id !== undefined) this.#link?.cancel(subscription.id);
    };
  }

  pids(): number[] {
    return this.#known().pids;
  }

  /** Lets go of the host, which goes on. Runs in flight may finish, for a while. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const link = this.#link;
    if (!link?.isOpen) return;
    const patience = new AbortController();
    await Promise.race([link.drained(), sleep(LIMITS.drainMs, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    await link.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #known(): ServeState {
    this.#state = this.#link?.state ?? this.#state;
    return this.#state!;
  }

  async #request(method: ServeMethod, params: object, options: RequestOptions = {}, hook: string = method): Promise<unknown> {
    const cause = this.causeToken();
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    // Not awaited when there is a connection: requests go out in the order they were made.
    const link = this.#link?.isOpen ? this.#link : await this.#connected();
    options.signal?.throwIfAborted();
    try {
      return await link.request(method, params, { ...options, cause });
    } catch (error) {
      // What JSON.stringify throws: a cycle, or a BigInt.
      if (error instanceof TypeError) throw new CreelError("ERR_EVENT_NOT_JSON", { hook, detail: error.message });
      throw error;
    }
  }

  /** For what gives nothing back. */
  #order(method: ServeMethod, params: object): void {
    this.#request(method, params).catch((error: unknown) =>
      this.#logger.error({ method, err: error }, "the host did not do as it was told"),
    );
  }

  #connected(): Promise<ServeLink> {
    if (this.#isClosed) return Promise.reject(new CreelError("ERR_HOST_CLOSED"));
    if (this.#link?.isOpen) return Promise.resolve(this.#link);
    this.#opening ??= this.#connect().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #connect(): Promise<ServeLink> {
    const offers = OFFERS.filter((offer) => this.#gateway[offer] !== undefined);
    const link = await ServeLink.open({
      path: this.#path,
      offers,
      wantsState: true,
      told: ({ subscription, fact, event }) => {
        for (const { id, listener } of this.#subscriptions)
          if (id === subscription) this.#safely(() => listener(revived(event, fact) as never));
      },
      asked: (question, signal) => answering.run({ host: this, cause: question.cause }, () => this.#answer(question, signal)),
      lost: (error) => this.#lost(error),
    });
    this.#link = link;
    this.#id = link.hostId;
    for (const subscription of this.#subscriptions) this.#subscribe(link, subscription);
    return link;
  }

  #lost(error: CreelError): void {
    this.#known();
    for (const subscription of this.#subscriptions) subscription.id = undefined;
    if (this.#link && !this.#isClosed)
      this.#logger.warn({ path: this.#path, detail: error.message }, "the connection to the host was lost");
  }

  #subscribe(link: ServeLink, subscription: Subscription): void {
    const { id, answer } = link.start("subscribe", { facts: [subscription.fact] });
    subscription.id = id;
    answer.catch((error: unknown) => {
      if (link.isOpen) this.#logger.error({ fact: subscription.fact, err: error }, "the host does not tell these facts");
    });
  }

  async #answer({ ask, params }: Question, signal: AbortSignal): Promise<unknown> {
    const gateway = this.#gateway;
    const answers: Record<Offer, () => Promise<unknown> | undefined> = {
      getSession: () => gateway.getSession?.(params.key as string),
      patchSession: () => gateway.patchSession?.(params.patch as SessionPatch, params.by as { plugin?: string }),
      requestApproval: () => gateway.requestApproval?.(params as unknown as ApprovalQuestion, { signal }),
    };
    return answers[ask]();
  }

  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#logger.error({ err: error }, "a listener of the host threw");
    }
  }
}

/** JSON has no dates. */
function revived(event: string, fact: Record<string, unknown>): Record<string, unknown> {
  return event === "quarantine" && typeof fact.until === "string" ? { ...fact, until: new Date(fact.until) } : fact;
}

/**
 * Trusted side: the host. It joins catalog, registry, lanes and runners into the calls a gateway makes. Hooks and events are
 * untyped here; the SDK puts the catalog's types on top.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { chainRule } from "../protocol/chain-rule.ts";
import type { AnyHook, HookTable } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
import { pack } from "../protocol/frame.ts";
import { FUNCTION_HOOKS } from "../protocol/functions.ts";
import type { FunctionOutcome } from "../protocol/functions.ts";
import { LIMITS } from "../protocol/limits.ts";
import { PROTOCOL_VERSION } from "../protocol/messages.ts";
import type { Hello } from "../protocol/messages.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { abortable } from "./abortable.ts";
import { Approvals, needsApproval } from "./approvals.ts";
import type { AskingOutcome, RememberedApproval, RequestApproval } from "./approvals.ts";
import { Audit } from "./audit/audit.ts";
import type { AuditSettings } from "./audit/audit.ts";
import { Breaker } from "./breaker.ts";
import type { CauseCarrier } from "./cause-tokens.ts";
import { Causes } from "./causes.ts";
import { HostEvents } from "./events.ts";
import type { FactName, Facts } from "./events.ts";
import { FunctionCalls } from "./function-calls.ts";
import type { FunctionCallOptions, FunctionTarget } from "./function-calls.ts";
import { Functions } from "./functions.ts";
import type { DeclaredFunction, FunctionCall } from "./functions.ts";
import { guestCode } from "./guest-code.ts";
import { Hearing } from "./hearing.ts";
import { handled } from "./handled.ts";
import { inspect } from "./inspect.ts";
import type { PluginReport } from "./inspect.ts";
import { Fleet } from "./lanes/fleet.ts";
import { SyncLines } from "./lanes/sync-lines.ts";
import type { StartUnit } from "./lanes/unit.ts";
import { logFacts } from "./log.ts";
import type { Logger } from "./log.ts";
import type { Plugin } from "./plugin.ts";
import { PluginServices } from "./plugin-services.ts";
import type { ServiceReport } from "./plugin-services.ts";
import { Plugins } from "./plugins.ts";
import { QuarantineFile } from "./quarantine-file.ts";
import { Registry } from "./registry.ts";
import type { Plan } from "./registry.ts";
import { drive } from "./runner/drive.ts";
import { prepare } from "./runner/prepare.ts";
import type { Prepared } from "./runner/prepare.ts";
import type { RunInput } from "./runner/run-input.ts";
import { Walk } from "./runner/walk.ts";
import { RecursionGuard } from "./recursion.ts";
import { Reporter } from "./reporter.ts";
import { idleFailures } from "./remarks.ts";
import type { Network } from "./services/exchange.ts";
import { Fetches, fetchServices } from "./services/fetch.ts";
import { Kv, kvServices } from "./services/kv.ts";
import type { Secrets } from "./services/secrets.ts";
import { Schedule, scheduleServices } from "./services/schedule.ts";
import { Services } from "./services/services.ts";
import { Sessions, sessionServices } from "./services/session.ts";
import type { SessionEntry, SessionGateway, SessionPatch } from "./services/session.ts";
import { updateServices } from "./services/updates.ts";
import { suggest } from "./suggest.ts";
import { Tallies } from "./tally.ts";
import { touchedServices } from "./touched.ts";
import { Volumes, volumeServices } from "./volume/volumes.ts";

export interface HostOptions {
  readonly lanes: number;
  readonly lanesPerUnit: number;
  readonly startUnit: StartUnit;
  readonly hasSpare: boolean;
  readonly memoryBytes: number;
  readonly hooks: HookTable;
  readonly failure: Readonly<Record<string, AnyHook["failure"]>>;
  /** May plugins listen to internal events? */
  readonly hasInternal: boolean;
  readonly gateway: SessionGateway & { readonly requestApproval?: RequestApproval | undefined };
  /** Approvals: may `timeoutBehavior: "allow"` let a call run that nobody answered for? */
  readonly allowOnTimeout: boolean;
  /** Where what must survive a restart is kept; undefined: nowhere. */
  readonly stateDir: string | undefined;
  /** Of the log in the state folder. */
  readonly audit?: (AuditSettings & { readonly enabled?: boolean | undefined }) | undefined;
  readonly logger: Logger;
  readonly secrets: Secrets;
  /** A plugin as it is to be loaded now, by its id; undefined: there is none. Rejects with a CreelError. */
  find(id: string): Promise<Plugin | undefined>;
  /** Instead of the network. */
  readonly network?: Network | undefined;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Only this plugin's handlers: for hooks that concern one plugin, such as the owner of a conversation. */
  readonly plugin?: string;
}

function only(plan: Plan, plugin: string | undefined): Plan {
  return plugin === undefined ? plan : plan.filter((handler) => handler.plugin.id === plugin);
}

export class CoreHost {
  readonly id = `h${randomBytes(4).toString("hex")}`;
  readonly #options: HostOptions;
  readonly #hooks: HookTable;
  readonly #events: HostEvents;
  readonly #registry: Registry;
  readonly #functions: Functions;
  readonly #pluginServices: PluginServices;
  readonly #calls: FunctionCalls;
  readonly #breaker: Breaker;
  readonly #plugins: Plugins;
  readonly #fleet: Fleet;
  readonly #sync: SyncLines;
  readonly #causes = new Causes(this.id);
  readonly #sessions: Sessions;
  readonly #kv: Kv;
  readonly #schedule: Schedule;
  readonly #volumes: Volumes;
  readonly #services: Services;
  readonly #hearing: Hearing;
  readonly #approvals: Approvals;
  readonly #reporter: Reporter;
  readonly #audit: Audit | undefined;
  /** What the operator set in `hooks.failure` without effect. */
  readonly #idle: ReadonlyMap<string, string>;
  #greeting = "";
  #runs = 0;
  #inFlight = 0;
  #drained: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#hooks = options.hooks;
    this.#events = new HostEvents(this.id, (error) => options.logger.error({ err: error }, "a listener of the host threw"));
    const { stateDir, logger, secrets } = options;
    const tallies = new Tallies();
    if (stateDir !== undefined && options.audit?.enabled !== false)
      this.#audit = new Audit({
        host: this.id,
        stateDir,
        logger,
        events: this.#events,
        settings: options.audit ?? {},
        secrets: secrets.all(),
        tallies,
        plugins: () => this.#plugins.list(),
      });
    const usage = this.#audit?.usage;
    this.#registry = new Registry(options.hooks, options.hasInternal, tallies);
    this.#functions = new Functions({
      tallies,
      run: (hook, plan, event, context, call) => this.#callFunction(hook, plan, event, context, call),
    });
    this.#calls = new FunctionCalls(this.#functions, options.logger);
    this.#pluginServices = new PluginServices(this.#functions, options.logger);
    this.#breaker = new Breaker({
      events: this.#events,
      file: options.stateDir === undefined ? undefined : new QuarantineFile(options.stateDir, options.logger),
      quarantine: (plugin) => this.#plugins.quarantine(plugin),
    });
    this.#plugins = new Plugins({
      registry: this.#registry,
      functions: this.#functions,
      services: this.#pluginServices,
      events: this.#events,
      breaker: this.#breaker,
      find: (id) => options.find(id),
      runs: () => this.#fleet.lanes.flatMap((lane) => lane.inputs() as RunInput[]),
      lane: (index) => this.#fleet.lanes[index]!,
      slowLane: () => {
        this.#fleet.startSlow();
        return this.#fleet.slow;
      },
      left: (plugin, cell) => this.#services.left(plugin, cell),
    });
    this.#fleet = new Fleet({
      ...options,
      greeting: (lane) => [this.#greeting, ...this.#plugins.openings(lane)],
      message: (lane, message, bodies) => this.#hearing.hear(lane, message, bodies),
      cpuMsOf: (lane, cell, isLoad) => this.#plugins.cpuMsOf(lane, cell, isLoad),
      restarted: (why, lanes, cell) => {
        const culprit = this.#plugins.sandboxDied(
          lanes.map((lane) => this.#fleet.lanes[lane]!),
          why,
          cell,
        );
        this.#events.publish("restart", { why, lanes, culprit: culprit?.id });
      },
    });
    this.#sync = new SyncLines(this.#fleet);
    const guard = new RecursionGuard(this.#events);
    this.#sessions = new Sessions({
      gateway: options.gateway,
      causes: this.#causes,
      guard,
      emit: (hook, event) => this.emit(hook, event),
    });
    this.#kv = new Kv({ stateDir: options.stateDir, causes: this.#causes, logger: options.logger });
    this.#schedule = new Schedule({
      stateDir: options.stateDir,
      causes: this.#causes,
      logger: options.logger,
      functions: this.#functions,
      plugins: () => this.#plugins.list(),
    });
    this.#events.on("plugin", () => this.#schedule.look());
    this.#events.on("quarantine", () => this.#schedule.look());
    this.#volumes = new Volumes({
      stateDir: options.stateDir,
      logger: options.logger,
      refused: (plugin, cell, why) => {
        options.logger.error({ plugin: plugin.id, detail: why }, "a plugin's files were not written, its cell is loaded again");
        plugin.remarks.set("fs", why);
        this.#plugins.renew(plugin, cell, why);
      },
    });
    const services = [
      volumeServices(this.#volumes),
      sessionServices(this.#sessions, this.#causes),
      fetchServices(
        new Fetches({ secrets, network: options.network, judged: usage && ((...request) => usage.requested(...request)) }),
        this.#causes,
        guard,
      ),
      updateServices(this.#calls.updates),
      touchedServices(),
      kvServices(this.#kv),
      scheduleServices(this.#schedule),
    ];
    this.#services = new Services(
      services,
      ({ id }, service, message) => this.#events.publish("refused", { plugin: id, service, message }),
      usage && (({ id }, service) => usage.used(id, service)),
    );
    this.#hearing = new Hearing({
      host: this.id,
      plugins: this.#plugins,
      events: this.#events,
      services: this.#services,
      volumes: this.#volumes,
    });
    this.#approvals = new Approvals({
      ask: options.gateway.requestApproval,
      allowOnTimeout: options.allowOnTimeout,
      logger: options.logger,
      wayBack: ({ home: { lane, cell } }) => {
        return (handle, cause, argument) => {
          if (!this.#plugins.cells.find(cell)) return false;
          lane.post({ kind: "invoke", cell, handle, cause }, JSON.stringify(argument));
          return true;
        };
      },
    });
    this.#reporter = new Reporter({ events: this.#events, plugins: this.#plugins, hooks: options.hooks, logger, audit: this.#audit });
    this.#idle = idleFailures(options.failure, options.hooks);
    for (const [hook, diagnostic] of this.#idle) options.logger.warn({ hook, diagnostic }, "a setting has no effect");
    options.secrets.tell(this.#events);
    logFacts(this.#events, options.logger);
  }

  /**
   * Starts the sandbox and loads the plugins, which may still be looked for meanwhile. Rejects when the sandbox does not start; a plugin that does
   * not load is only noted.
   */
  async open(found: Promise<readonly Plugin[]>): Promise<void> {
    this.#fleet.warm();
    const hooks = [...Object.values(this.#hooks), ...Object.values(FUNCTION_HOOKS)];
    const rules = Object.fromEntries(hooks.map((hook) => [hook.name, chainRule(hook)]));
    const guest = await guestCode();
    this.#greeting = pack({ kind: "hello", version: PROTOCOL_VERSION, rules } satisfies Hello, guest);
    const started = handled(this.#fleet.start());
    const plugins = await found;
    const added = plugins.map((plugin) => handled(this.#plugins.add(plugin)));
    // Each as soon as it is bundled: the sandbox has time to load it while the next one is.
    for (const [at, plugin] of plugins.entries()) {
      await added[at];
      this.#plugins.open(plugin);
    }
    await started;
    await this.#plugins.settled();
    if (this.#listensSync()) this.#sync.open();
    this.#pluginServices.open(this.#plugins.list());
    this.#schedule.open();
    this.#sayLoaded();
  }

  has(hook: string): boolean {
    return this.#registry.plan(hook).length > 0 || this.#plugins.asleepFor(hook) !== undefined;
  }

  /** Not an async function: on this path every promise counts. */
  run(name: string, event: unknown, context?: unknown, options?: RunOptions): Promise<Outcome> {
    const plan = this.#registry.plan(name);
    try {
      const hook = this.#hook(name);
      if (this.#closing) throw new CreelError("ERR_HOST_CLOSED");
      const asleep = this.#plugins.asleepFor(name);
      if (asleep) return this.#runAfter(asleep, hook, event, context, options);
      if (plan.length === 0) return Promise.resolve(this.#nobody(name));
      options?.signal?.throwIfAborted();
      return this.#start(this.#input(hook, only(plan, options?.plugin), prepare(hook, event, context)), options?.signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Observe hooks: returns at once, never throws. */
  emit(name: string, event: unknown, context?: unknown): void {
    this.run(name, event, context).catch((error: unknown) =>
      this.#options.logger.error({ hook: name, err: error }, "an emitted event was not delivered"),
    );
  }

  /** Blocks the caller for at most the budgets of the hook's handlers. */
  runSync(name: string, event: unknown, context?: unknown): Outcome {
    const hook = this.#hook(name);
    if (this.#closing) throw new CreelError("ERR_HOST_CLOSED");
    if (hook.kind !== "sync") throw new CreelError("ERR_HOOK_KIND", { hook: name, kind: hook.kind, use: "await host.run for it" });
    const plan = this.#registry.plan(name);
    if (plan.length === 0) return this.#nobody(name);
    const startedMs = performance.now();
    const input = this.#input(hook, plan, prepare(hook, event, context));
    // What its handlers ask of us is heard when we are back, and then it is over.
    this.#causes.finished(input.cause);
    const walk = new Walk(input);
    let hop = walk.next();
    while (hop) hop = walk.next(this.#sync.run(hop));
    const outcome = walk.outcome!;
    this.#breaker.learn(input, outcome);
    this.#reporter.report(outcome, startedMs, input);
    return outcome;
  }

  plugins(): PluginReport[] {
    return this.#plugins.list().map((plugin) => this.#inspect(plugin));
  }

  inspect(id: string): PluginReport {
    return this.#inspect(this.#plugins.get(id));
  }

  #inspect(plugin: Plugin): PluginReport {
    return inspect(plugin, this.#registry, this.#functions, this.#idle, this.#kv, this.#options.secrets, this.#volumes);
  }

  async reload(id: string): Promise<PluginReport> {
    if (this.#closing) throw new CreelError("ERR_HOST_CLOSED");
    const plugin = await this.#plugins.reload(id);
    if (this.#listensSync()) this.#sync.open();
    return this.#inspect(plugin);
  }

  disable(id: string): void {
    this.#plugins.disable(id);
  }

  /** What plugins have declared for the gateway to call; of those that share a name the one of the first plugin. */
  tools(): DeclaredFunction<"tool">[] {
    return this.#functions.list("tool");
  }

  commands(): DeclaredFunction<"command">[] {
    return this.#functions.list("command");
  }

  methods(): DeclaredFunction<"method">[] {
    return this.#functions.list("method");
  }

  services(): ServiceReport[] {
    return this.#pluginServices.list();
  }

  /** Calls a tool, a command or a gateway method. Rejects only for the caller's own mistakes, as `run` does. */
  async call(target: FunctionTarget, argument?: unknown, options: FunctionCallOptions = {}): Promise<FunctionOutcome> {
    if (this.#closing) throw new CreelError("ERR_HOST_CLOSED");
    return this.#calls.call(target, argument, options);
  }

  /** Out of quarantine. */
  async release(id: string): Promise<PluginReport> {
    if (this.#closing) throw new CreelError("ERR_HOST_CLOSED");
    await this.#plugins.release(id);
    if (this.#listensSync()) this.#sync.open();
    return this.inspect(id);
  }

  /** Patches a session through the gateway's own function and, when that has succeeded, emits `session:patch`. */
  patchSession(patch: SessionPatch): Promise<SessionEntry> {
    return this.#sessions.patch(patch);
  }

  /** Runs work as caused by the request whose headers these are, if it is a plugin's doing. */
  rejoin<T>(headers: CauseCarrier, work: () => T): T {
    return this.#causes.rejoin(headers, work);
  }

  /** What `rejoin` takes, for what is being done now. */
  causeToken(): string | undefined {
    return this.#causes.currentToken();
  }

  /** What users have allowed for always. */
  approvals(): RememberedApproval[] {
    return this.#approvals.remembered();
  }

  /** Asks again the next time. True: there was something to forget. */
  revokeApproval(approval: RememberedApproval): boolean {
    return this.#approvals.revoke(approval);
  }

  on<K extends FactName>(name: K, listener: (fact: Facts[K]) => void): () => void {
    return this.#events.on(name, listener);
  }

  /** Process ids of the sandbox; empty with thread isolation. */
  pids(): number[] {
    return this.#fleet.pids();
  }

  /** Lets runs in flight finish, for a while, then ends the sandbox. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#schedule.stop();
    this.#plugins.close();
    if (this.#inFlight > 0) {
      const drained = new Promise<void>((resolve) => (this.#drained = resolve));
      const patience = new AbortController();
      await Promise.race([drained, sleep(LIMITS.drainMs, undefined, { signal: patience.signal }).catch(() => {})]);
      patience.abort();
    }
    await this.#pluginServices.close();
    await this.#approvals.close();
    // What plugins were told last must reach them.
    await Promise.all(this.#fleet.lanes.map((lane) => lane.reached()));
    await this.#services.close();
    await this.#fleet.close();
    await this.#audit?.close();
    this.#events.close();
  }

  /** Some who listen to it are not loaded yet. The event is what it is now: the caller may change it meanwhile. */
  async #runAfter(asleep: readonly Plugin[], hook: AnyHook, event: unknown, context: unknown, options: RunOptions = {}): Promise<Outcome> {
    const { signal, plugin } = options;
    signal?.throwIfAborted();
    const prepared = prepare(hook, event, context);
    // As a run does, it keeps the host from closing.
    this.#inFlight += 1;
    try {
      // What a plugin does while it is loaded does not wait until it is.
      const { path } = this.#causes.begin("");
      const wanted = asleep.filter(({ id }) => (plugin === undefined || id === plugin) && !path.includes(`${id}:load`));
      await abortable(Promise.all(wanted.map((one) => this.#plugins.wake(one))), signal);
      const plan = only(this.#registry.plan(hook.name), plugin);
      if (plan.length === 0) return this.#nobody(hook.name);
      return await this.#start(this.#input(hook, plan, prepared), signal);
    } finally {
      this.#left();
    }
  }

  #input(hook: AnyHook, plan: Plan, prepared: Prepared): RunInput {
    const runId = this.#nextRunId();
    const chain = this.#causes.begin(runId);
    if (this.#plugins.mayAsk) this.#causes.remember(this.#runs, hook.name, chain);
    const isNested = hook.guardsNesting === true && this.#causes.isInside(hook.name, chain);
    const failure = this.#options.failure[hook.name] ?? hook.failure;
    const { event, eventText, context, contextText } = prepared;
    return {
      event,
      eventText,
      context,
      contextText,
      runId,
      cause: this.#runs,
      chain,
      hook,
      plan,
      failure,
      isNested,
      isCalm: this.#breaker.isCalm,
      heard: undefined,
      later: undefined,
    };
  }

  /** One function of one plugin; otherwise a run like any other. */
  async #callFunction(hook: AnyHook, plan: Plan, event: unknown, context: unknown, call: FunctionCall): Promise<Outcome> {
    const { signal, chain, began } = call;
    signal?.throwIfAborted();
    const input = chain
      ? this.#causes.within(chain, () => this.#input(hook, plan, prepare(hook, event, context)))
      : this.#input(hook, plan, prepare(hook, event, context));
    began?.(input.cause, plan[0]!.plugin.id);
    return this.#start(input, signal);
  }

  #start(input: RunInput, signal: AbortSignal | undefined): Promise<Outcome> {
    const startedMs = this.#events.wants("run") ? performance.now() : 0;
    this.#inFlight += 1;
    if (input.hook.guardsNesting) this.#causes.opened(input.runId, input.hook.name);
    return new Promise((resolve, reject) =>
      drive(input, signal, {
        resolve: (outcome) => {
          this.#breaker.learn(input, outcome);
          this.#plugins.ended(input);
          if (needsApproval(outcome)) return resolve(this.#approve(outcome, input, startedMs, signal));
          this.#finished(input);
          this.#reporter.report(outcome, startedMs, input);
          resolve(outcome);
        },
        reject: (error) => {
          this.#breaker.forgo(input);
          this.#plugins.ended(input);
          this.#finished(input);
          reject(error);
        },
      }),
    );
  }

  async #approve(outcome: AskingOutcome, input: RunInput, startedMs: number, signal: AbortSignal | undefined): Promise<Outcome> {
    try {
      // What the gateway does to get an answer is that plugin's doing.
      const chain = this.#causes.next(input.cause, outcome.result.requireApproval.pluginId ?? "");
      const settled = await this.#causes.within(chain, () => this.#approvals.settle(outcome, input, signal));
      this.#reporter.report(settled, startedMs, input);
      return settled;
    } finally {
      this.#finished(input);
    }
  }

  #finished({ hook, runId, cause }: RunInput): void {
    this.#causes.finished(cause);
    if (hook.guardsNesting) this.#causes.ended(runId);
    this.#left();
  }

  #left(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#drained?.();
  }

  #hook(name: string): AnyHook {
    const hook = this.#hooks[name];
    if (!hook) throw new CreelError("ERR_HOOK_UNKNOWN", { hook: name, hint: suggest(name, Object.keys(this.#hooks)) });
    return hook;
  }

  #nextRunId(): string {
    this.#runs += 1;
    return `${this.id}-${this.#runs}`;
  }

  #nobody(hook: string): Outcome {
    return { runId: this.#nextRunId(), hook, decision: "pass", result: undefined, by: undefined, reason: undefined, calls: NO_CALLS };
  }

  #sayLoaded(): void {
    const all = this.#plugins.list();
    const asleep = all.filter(({ status }) => status === "asleep").length;
    const loaded = all.flatMap(({ id, status }) => (status === "ready" ? id : []));
    if (asleep > 0) this.#options.logger.info({ loaded, asleep }, "plugins that sleep are loaded when a hook of theirs is first run");
  }

  #listensSync(): boolean {
    return Object.values(this.#hooks).some((hook) => hook.kind === "sync" && this.has(hook.name));
  }
}

const NO_CALLS: readonly never[] = Object.freeze([]);

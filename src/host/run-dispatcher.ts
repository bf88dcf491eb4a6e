/**
 * Trusted side: starts, counts and ends the runs of a host. It checks the caller's input, gives each run its number and its cause, drives
 * it through the lanes, asks the user if handlers want an approval, and reports the outcome.
 */
import type { AnyHook, HookTable } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
import type { Call, Outcome } from "../protocol/outcome.ts";
import type { Asked } from "../protocol/rules/merge.ts";
import { suggest } from "../text/did-you-mean.ts";
import type { Breaker } from "./blame/breaker.ts";
import type { Causes } from "./causality/causes.ts";
import type { FunctionCall } from "./functions/functions.ts";
import type { RunOptions, SyncRunOptions } from "./host-api.ts";
import type { Plugin } from "./plugins/plugin.ts";
import type { Plugins } from "./plugins/plugins.ts";
import type { Handler, Plan, Registry } from "./plugins/registry.ts";
import type { HostEvents } from "./report/events.ts";
import type { Logger } from "./report/log.ts";
import type { Reporter } from "./report/reporter.ts";
import type { RunHistory } from "./report/run-history.ts";
import { untilAborted } from "./until-aborted.ts";
import type { Approvals, AskingOptions } from "./run/approvals/approvals.ts";
import { failurePolicy } from "../protocol/rules/failure-policy.ts";
import { ownError } from "./run/guest-error.ts";
import { drive } from "./run/drive.ts";
import { prepare } from "./run/prepare.ts";
import type { Prepared } from "./run/prepare.ts";
import { withAttempt } from "./run/retry.ts";
import type { RunInput } from "./run/run-input.ts";
import { closedBy } from "./run/unserved.ts";
import { Walk } from "./run/walk.ts";
import type { SyncLines } from "./supervisor/sync/sync-lines.ts";

export interface RunDispatcherOptions {
  /** The host's id: run ids begin with it. */
  readonly id: string;
  readonly hooks: HookTable;
  /** The operator's failure policies, by hook. */
  readonly failure: Readonly<Record<string, AnyHook["failure"]>>;
  readonly registry: Registry;
  readonly plugins: Plugins;
  /** Events are checked even if no plugin listens, and `emit` throws. */
  readonly isStrict: boolean;
  readonly breaker: Breaker;
  readonly causes: Causes;
  readonly approvals: Approvals;
  readonly sync: SyncLines;
  readonly events: HostEvents;
  readonly reporter: Reporter;
  readonly history: RunHistory;
  readonly logger: Logger;
}

/** `except`: without the handlers of these plugins, which get the event from the outbox. */
export interface DispatchOptions extends RunOptions {
  readonly except?: ReadonlySet<string>;
}

const NO_CALLS: readonly never[] = Object.freeze([]);

/** The options of a delivery from the outbox. */
const DELIVERY: AskingOptions = Object.freeze({});

/** A handler of a durable hook asks for another attempt by throwing, as when a server is away: that is no strike against its plugin. */
function withoutRefusals(outcome: Outcome): Outcome {
  const calls = outcome.calls.map((call): Call => {
    const { error: _, ...rest } = call;
    return call.error?.code === "ERR_CALL_FAILED" ? rest : call;
  });
  return { ...outcome, calls };
}

export class RunDispatcher {
  readonly #options: RunDispatcherOptions;
  readonly #registry: Registry;
  readonly #plugins: Plugins;
  readonly #breaker: Breaker;
  readonly #causes: Causes;
  readonly #runIdPrefix: string;
  /** How many runs were started; the number of the last one. */
  #runs = 0;
  #inFlight = 0;
  #isClosed = false;
  #drained: (() => void) | undefined;

  constructor(options: RunDispatcherOptions) {
    this.#options = options;
    this.#registry = options.registry;
    this.#plugins = options.plugins;
    this.#breaker = options.breaker;
    this.#causes = options.causes;
    this.#runIdPrefix = `${options.id}-`;
  }

  /** Runs that have begun, wait for lazy plugins or wait for a user. */
  get inFlight(): number {
    return this.#inFlight;
  }

  has(hook: string): boolean {
    return this.#registry.plan(hook).length > 0 || this.#plugins.lazyFor(hook) !== undefined;
  }

  /** Not an async function: on this path every promise counts. */
  run(name: string, event: unknown, context?: unknown, options?: DispatchOptions): Promise<Outcome> {
    const plan = this.#registry.plan(name);
    try {
      const hook = this.#hook(name);
      if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
      const lazy = this.#plugins.lazyFor(name);
      if (lazy) return this.#activateAndRun(lazy, hook, event, context, options);
      const absent = this.#absentPlugin(hook, plan, options);
      if (absent) return Promise.resolve(absent);
      if (plan.length === 0) return Promise.resolve(this.#nobodyListens(hook, event, context));
      options?.signal?.throwIfAborted();
      return this.#start(this.#input(hook, only(plan, options), attempted(prepare(hook, event, context), options)), options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  emit(name: string, event: unknown, context?: unknown): void {
    if (this.#options.isStrict) {
      const hook = this.#hook(name);
      if (hook.kind !== "observe") throw new CreelError("ERR_HOOK_KIND", { hook: name, kind: hook.kind, use: "await host.run for it" });
      prepare(hook, event, context);
    }
    this.run(name, event, context).catch((error: unknown) =>
      this.#options.logger.error({ hook: name, err: error }, "an emitted event was not delivered"),
    );
  }

  runSync(name: string, event: unknown, context?: unknown, options?: SyncRunOptions): Outcome {
    const hook = this.#hook(name);
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    if (hook.kind !== "sync") throw new CreelError("ERR_HOOK_KIND", { hook: name, kind: hook.kind, use: "await host.run for it" });
    const all = this.#registry.plan(name);
    const absent = this.#absentPlugin(hook, all, options);
    if (absent) return absent;
    const plan = only(all, options);
    if (plan.length === 0) return this.#nobodyListens(hook, event, context);
    const input = this.#input(hook, plan, prepare(hook, event, context));
    this.#options.reporter.begun(input);
    // The host reads the handlers' service requests only after it returns from here; by then the run is over.
    this.#causes.finished(input.cause);
    const walk = new Walk(input);
    let hop = walk.next();
    while (hop) hop = walk.next(this.#options.sync.run(hop));
    const outcome = walk.outcome!;
    this.#breaker.learn(input, outcome);
    this.#options.reporter.report(outcome, input);
    return outcome;
  }

  /** Calls one function of one plugin: a run like any other, with a plan of one handler. */
  async callFunction(hook: AnyHook, plan: Plan, event: unknown, context: unknown, call: FunctionCall): Promise<Outcome> {
    const { signal, chain, began } = call;
    signal?.throwIfAborted();
    const made = (): RunInput => this.#input(hook, plan, prepare(hook, event, context));
    const input = chain ? this.#causes.within(chain, made) : made();
    began?.(input.cause, plan[0]!.plugin.id);
    return this.#start(input, call);
  }

  /** Delivers a stored event, which was checked before it was stored, to the handlers of one plugin. */
  async deliver(hook: AnyHook, plan: Plan, prepared: Prepared): Promise<Outcome> {
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    return this.#start(this.#input(hook, plan, prepared), DELIVERY);
  }

  /** No further run is started. Resolves when the last one has ended; undefined: none is in flight. */
  close(): Promise<void> | undefined {
    this.#isClosed = true;
    if (this.#inFlight === 0) return undefined;
    return new Promise((resolve) => (this.#drained = resolve));
  }

  /** Loads the lazy plugins that listen to the hook, then runs it. The event is copied first: the caller may change it meanwhile. */
  async #activateAndRun(
    lazy: readonly Plugin[],
    hook: AnyHook,
    event: unknown,
    context: unknown,
    options: DispatchOptions = {},
  ): Promise<Outcome> {
    const { signal, plugin } = options;
    signal?.throwIfAborted();
    const startedMs = performance.now();
    const prepared = attempted(prepare(hook, event, context), options);
    // Like a run, it keeps the host from closing.
    this.#inFlight += 1;
    try {
      // A run that a plugin causes while it loads must not wait for that plugin to load.
      const { path } = this.#causes.begin("");
      const wanted = lazy.filter(({ id }) => (plugin === undefined || id === plugin) && !path.includes(`${id}:load`));
      await untilAborted(Promise.all(wanted.map((one) => this.#plugins.activate(one))), signal);
      const all = this.#registry.plan(hook.name);
      const absent = this.#absentPlugin(hook, all, options);
      if (absent) return absent;
      const plan = only(all, options);
      if (plan.length === 0) return this.#noHandlers(hook.name);
      return await this.#start(this.#input(hook, plan, prepared, startedMs, performance.now() - startedMs), options);
    } finally {
      this.#leave();
    }
  }

  #input(hook: AnyHook, plan: Plan, prepared: Prepared, startedMs: number = performance.now(), activateMs = 0): RunInput {
    const runId = this.#nextRunId();
    const chain = this.#causes.begin(runId);
    if (this.#plugins.mayCauseRuns) this.#causes.remember(this.#runs, hook.name, chain);
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
      startedMs,
      activateMs,
      plan,
      failure,
      isNested,
      allClosed: this.#breaker.allClosed && this.#registry.isWhole,
      firstAnswers: undefined,
      later: undefined,
      fanned: undefined,
      asked: undefined,
      askedMs: undefined,
    };
  }

  #start(input: RunInput, options: AskingOptions | undefined): Promise<Outcome> {
    this.#inFlight += 1;
    this.#options.reporter.begun(input);
    if (input.hook.guardsNesting) this.#causes.opened(input.runId, input.hook.name);
    return new Promise((resolve, reject) =>
      drive(input, options?.signal, {
        resolve: (outcome) => {
          this.#breaker.learn(input, options === DELIVERY ? withoutRefusals(outcome) : outcome);
          this.#plugins.ended(input);
          // A block wins over an approval request: then the user is not asked.
          if (input.asked && outcome.decision === "pass") return resolve(this.#approve(outcome, input.asked, input, options));
          this.#finished(input);
          this.#options.reporter.report(outcome, input);
          resolve(outcome);
        },
        reject: (error) => {
          this.#breaker.forgo(input);
          this.#plugins.ended(input);
          this.#finished(input);
          this.#options.reporter.aborted(input);
          reject(error);
        },
      }),
    );
  }

  async #approve(outcome: Outcome, asked: Asked<Handler>, input: RunInput, options: AskingOptions | undefined): Promise<Outcome> {
    const { history, reporter } = this.#options;
    input.askedMs = performance.now();
    history.asks(input);
    try {
      // What the gateway does to get an answer counts as caused by the plugin that asked first.
      const next = this.#causes.next(input.cause, asked.requests[0]!.by.plugin.id);
      // SECURITY: runs are forgotten where no plugin can cause others; the question still goes to its own client. test/serve/approvals.test.ts
      const chain = { ...next, client: input.chain.client };
      const settled = await this.#causes.within(chain, () => this.#options.approvals.settle(outcome, asked, input, options));
      reporter.report(settled, input);
      return settled;
    } catch (error) {
      reporter.aborted(input);
      throw error;
    } finally {
      history.answered(input);
      this.#finished(input);
    }
  }

  #finished({ hook, runId, cause }: RunInput): void {
    this.#causes.finished(cause);
    if (hook.guardsNesting) this.#causes.ended(runId);
    this.#leave();
  }

  #leave(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#drained?.();
  }

  #hook(name: string): AnyHook {
    const hook = this.#options.hooks[name];
    if (!hook) throw new CreelError("ERR_HOOK_UNKNOWN", { hook: name, hint: suggest(name, Object.keys(this.#options.hooks)) });
    return hook;
  }

  #nextRunId(): string {
    this.#runs += 1;
    return this.#runIdPrefix + this.#runs;
  }

  /**
   * A run for one plugin that the host does not have, that is off or that is being loaded follows the hook's failure policy, as a failing
   * handler does. Undefined: the run goes on.
   * SECURITY: otherwise a gate that was switched off would pass in silence. test/contract/targeted-run.test.ts
   */
  #absentPlugin(hook: AnyHook, plan: Plan, options: SyncRunOptions | undefined): Outcome | undefined {
    const id = options?.plugin;
    if (id === undefined || plan.some((handler) => handler.plugin.id === id)) return undefined;
    const plugin = this.#plugins.find(id);
    if (plugin?.status === "ready" || plugin?.status === "asleep") return undefined;
    const detail = plugin ? `the plugin "${id}" is ${plugin.status}` : `the host has no plugin "${id}"`;
    const error = ownError("ERR_CALL_NOT_LOADED", { detail });
    const call: Call = { plugin: id, priority: options?.priority ?? 0, status: "failed", wallMs: 0, cpuMs: 0, error };
    const passes = { ...this.#noHandlers(hook.name), calls: [call] };
    if (failurePolicy(hook, plugin?.isRequired === true, this.#options.failure[hook.name]) === "open") return passes;
    return { ...passes, ...closedBy(hook, id, `${hook.name} handler of ${id} failed: ${error.message}`) };
  }

  /** No plugin will see the event, so it is checked only if the gateway wants that. */
  #nobodyListens(hook: AnyHook, event: unknown, context: unknown): Outcome {
    if (this.#options.isStrict) prepare(hook, event, context);
    return this.#noHandlers(hook.name);
  }

  #noHandlers(hook: string): Outcome {
    return { runId: this.#nextRunId(), hook, decision: "pass", result: undefined, by: undefined, reason: undefined, calls: NO_CALLS };
  }
}

function only(plan: Plan, { plugin, priority, except }: Pick<DispatchOptions, "plugin" | "priority" | "except"> = {}): Plan {
  if (plugin === undefined && priority === undefined && except === undefined) return plan;
  return plan.filter(
    (handler) =>
      (plugin === undefined || handler.plugin.id === plugin) &&
      (priority === undefined || handler.priority === priority) &&
      except?.has(handler.plugin.id) !== true,
  );
}

/** What handlers see of a run that another host may have begun. */
function attempted(prepared: Prepared, options: DispatchOptions | undefined): Prepared {
  const attempt = options?.attempt;
  return attempt === undefined || attempt === 1 ? prepared : { ...prepared, contextText: withAttempt(prepared.contextText, attempt) };
}

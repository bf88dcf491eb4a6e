/**
 * Trusted side: durable observe hooks. It stands before the dispatcher of runs in hosts that have any: an event of such a hook is checked,
 * written to the outbox with one row per plugin that listens, and delivered from there (deliveries.ts). All other hooks go straight on.
 */
import { randomBytes } from "node:crypto";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { OutboxStats } from "../../protocol/live-report.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { Causes } from "../causality/causes.ts";
import { chainOfStored } from "../causality/stored-chain.ts";
import type { EmitOptions, Emitted, RunOptions } from "../host-api.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { Registry } from "../plugins/registry.ts";
import type { HostEvents } from "../report/events.ts";
import type { Logger } from "../report/log.ts";
import { NO_CONTEXT, prepare } from "../run/prepare.ts";
import type { RunDispatcher } from "../run-dispatcher.ts";
import { Deliveries } from "./deliveries.ts";
import { Outbox } from "./outbox.ts";
import type { DeliveryRow } from "./outbox-tables.ts";
import { Received } from "./received.ts";
import type { Relay, Relayed, Verdict } from "./relay.ts";
import type { Calls, Delivery } from "./verdict.ts";

export interface DurableOptions {
  readonly stateDir: string;
  readonly hooks: Readonly<Record<string, AnyHook>>;
  /** The hooks that are durable for every plugin. */
  readonly durable: ReadonlySet<string>;
  /** Does the operator let plugins choose durable hooks? */
  readonly mayBeDurable: boolean;
  readonly runs: RunDispatcher;
  readonly registry: Registry;
  readonly plugins: Plugins;
  readonly causes: Causes;
  readonly events: HostEvents;
  readonly logger: Logger;
  /** Servers that keep the events of this host's outbox, and give them to any host; undefined: this host delivers them. */
  readonly relay?: Relay | undefined;
}

export class Durable {
  readonly #options: DurableOptions;
  readonly #outbox: Outbox;
  readonly #deliveries: Deliveries;
  readonly #received: Received;
  #isClosed = false;

  constructor(options: DurableOptions) {
    const { stateDir, hooks, events, logger, relay } = options;
    this.#options = options;
    this.#outbox = new Outbox({
      stateDir,
      onSetAside: (aside, detail) => logger.error({ aside, detail }, "the outbox was broken, it was set aside and a new one begun"),
      onFailure: (error) => logger.error({ err: error }, "the outbox cannot be read or written"),
    });
    this.#deliveries = new Deliveries({
      outbox: this.#outbox,
      events,
      logger,
      now: Date.now,
      deliver: (row) => (relay ? this.#relay(relay, row) : this.#deliver(row)),
      ...(relay && { isHeld: () => relay.isHeld }),
    });
    this.#received = new Received({
      hooks,
      events,
      logger,
      now: () => Date.now(),
      isOpen: () => !this.#isClosed,
      deliver: (delivery) => this.#deliver(delivery),
    });
    relay?.attach(this);
    events.on("plugin", ({ plugin }) => this.#deliveries.wake(plugin));
    events.on("quarantine", ({ plugin }) => this.#deliveries.wake(plugin));
  }

  open(): Promise<void> {
    return this.#deliveries.open();
  }

  /** Undefined: it cannot be read now. */
  report(): Promise<OutboxStats | undefined> {
    return this.#outbox.report().catch(() => undefined);
  }

  /** The plugins that listen to a durable hook and can be called now. */
  listeners(): string[] {
    const { hooks, plugins } = this.#options;
    const ids = new Set<string>();
    for (const [name, { kind }] of Object.entries(hooks))
      if (kind === "observe" && this.takes(name)) for (const id of this.#recipients(name)) ids.add(id);
    return [...ids].filter((id) => isServed(plugins.find(id)?.status));
  }

  /** An event that another host, or this one, has given to the servers. */
  receive(event: Relayed, attempt: number): Promise<Verdict> {
    return this.#received.receive(event, attempt);
  }

  resume(): void {
    this.#deliveries.resume();
  }

  stop(): void {
    this.#isClosed = true;
    this.#deliveries.stop();
  }

  async close(): Promise<void> {
    this.stop();
    await this.#deliveries.settled();
    await this.#outbox.close();
  }

  /** True: the event of this hook is kept until its plugins have it, or until those have it that asked for that. */
  takes(hook: string): boolean {
    return (
      this.#options.durable.has(hook) ||
      (this.#options.mayBeDurable && this.#options.registry.plan(hook).some(({ isDurable }) => isDurable))
    );
  }

  /**
   * Like `run`, but resolves when the event is committed: no durable handler has seen it yet, and `calls` has none of them. The handlers of
   * plugins for which the hook is not durable are called at once.
   */
  async run(hook: string, event: unknown, context?: unknown, options?: RunOptions): Promise<Outcome> {
    const recipients = this.#recipients(hook, options?.plugin);
    const kept = this.#accept(hook, event, context, [...recipients]);
    if (this.#options.durable.has(hook) || (options?.plugin !== undefined && recipients.size > 0))
      return { runId: await kept, hook, decision: "pass", result: undefined, by: undefined, reason: undefined, calls: [] };
    const [outcome] = await Promise.all([this.#options.runs.run(hook, event, context, { ...options, except: recipients }), kept]);
    return outcome;
  }

  /** `kept` resolves when the event is committed. A rejection that nobody awaits is logged, and raises no `unhandledRejection`. */
  emit(hook: string, event: unknown, context?: unknown, options?: EmitOptions): Emitted {
    const { durable, runs, logger } = this.#options;
    const recipients = this.#recipients(hook);
    const kept = this.#accept(hook, event, context, [...recipients], options?.id).then(() => {});
    kept.catch((error: unknown) => logger.error({ hook, err: error }, "an emitted event was not kept"));
    if (!durable.has(hook))
      runs
        .run(hook, event, context, { except: recipients })
        .catch((error: unknown) => logger.error({ hook, err: error }, "an emitted event was not delivered"));
    return { kept };
  }

  async #accept(name: string, event: unknown, context: unknown, plugins: readonly string[], given?: string): Promise<string> {
    const { hooks, causes } = this.#options;
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    const id = given ?? randomBytes(12).toString("base64url");
    const prepared = prepare(hooks[name]!, event, context);
    if (plugins.length === 0) return id;
    const chain = causes.begin(id);
    await this.#outbox.add(
      {
        id,
        hook: name,
        session: sessionOf(prepared.event) ?? sessionOf(prepared.context) ?? "",
        event: prepared.eventText,
        context: prepared.contextText,
        chain: chain.depth === 0 ? undefined : JSON.stringify(chain),
        plugins,
      },
      (rows) => this.#deliveries.take(rows),
    );
    return id;
  }

  /** The plugins that get the event from the outbox: also those that are not loaded yet, or do not serve now. */
  #recipients(hook: string, only?: string): ReadonlySet<string> {
    const { durable, registry, plugins } = this.#options;
    const isForAll = durable.has(hook);
    const ids = new Set<string>();
    for (const handler of registry.plan(hook))
      if (isForAll ? registry.handlersOf(handler.plugin).length > 0 : handler.isDurable) ids.add(handler.plugin.id);
    if (isForAll) for (const { id } of plugins.lazyFor(hook) ?? []) ids.add(id);
    if (only === undefined) return ids;
    return new Set(ids.has(only) ? [only] : []);
  }

  async #relay(relay: Relay, row: DeliveryRow): Promise<Calls | "sent" | "held"> {
    const { id, plugin, hook, session, event, context, chain, made } = row;
    const sent = await relay.send({ id, plugin, hook, session, event, context, chain, made });
    return sent === "large" ? this.#deliver(row) : sent;
  }

  async #deliver(row: Delivery): Promise<Calls> {
    const { hooks, plugins, registry, runs, causes } = this.#options;
    const hook = hooks[row.hook];
    const plugin = plugins.find(row.plugin);
    if (!hook || !plugin || !isServed(plugin.status)) return "waits";
    if (plugin.status === "asleep") await plugins.activate(plugin);
    if (plugins.find(row.plugin)?.status !== "ready") return "waits";
    const plan = registry.plan(row.hook).filter((handler) => handler.plugin.id === row.plugin);
    if (plan.length === 0) return "gone";
    if (plan.some(({ absent }) => absent)) return "waits";
    const contextText = withDelivery(row.context, row.id, row.attempt);
    const prepared = { event: fieldsOf(row.event), eventText: row.event, context: fieldsOf(contextText), contextText };
    const chain = chainOfStored(row.chain, row.made, Date.now(), row.id);
    const { calls } = await causes.within(chain, () => runs.deliver(hook, plan, prepared));
    return calls;
  }
}

function isServed(status: string | undefined): boolean {
  return status === "ready" || status === "asleep";
}

function fieldsOf(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

/** Events of one session are delivered in order. Those without a session are in order among themselves. */
function sessionOf({ sessionKey, sessionId }: Record<string, unknown>): string | undefined {
  if (typeof sessionKey === "string" && sessionKey !== "") return sessionKey;
  return typeof sessionId === "string" && sessionId !== "" ? sessionId : undefined;
}

/** Last, so that a gateway's field of this name does not take its place. */
function withDelivery(context: string, id: string, attempt: number): string {
  return `${context.slice(0, -1)}${context === NO_CONTEXT ? "" : ","}"delivery":${JSON.stringify({ id, attempt })}}`;
}

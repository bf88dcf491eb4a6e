/**
 * Trusted side: durable observe hooks. It stands before the dispatcher of runs in hosts that have any: an event of such a hook is checked,
 * written to the outbox with one row per plugin that listens, and delivered from there (deliveries.ts). All other hooks go straight on.
 */
import { randomBytes } from "node:crypto";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { Causes } from "../causality/causes.ts";
import { chainOfStored } from "../causality/stored-chain.ts";
import type { Emitted, RunOptions } from "../host-api.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { Registry } from "../plugins/registry.ts";
import type { HostEvents } from "../report/events.ts";
import type { Logger } from "../report/log.ts";
import { NO_CONTEXT, prepare } from "../run/prepare.ts";
import type { RunDispatcher } from "../run-dispatcher.ts";
import { Deliveries } from "./deliveries.ts";
import { Outbox } from "./outbox.ts";
import type { DeliveryRow } from "./outbox-tables.ts";

export interface DurableOptions {
  readonly stateDir: string;
  readonly hooks: Readonly<Record<string, AnyHook>>;
  /** The hooks that are durable for every plugin. */
  readonly durable: ReadonlySet<string>;
  readonly runs: RunDispatcher;
  readonly registry: Registry;
  readonly plugins: Plugins;
  readonly causes: Causes;
  readonly events: HostEvents;
  readonly logger: Logger;
}

export class Durable {
  readonly #options: DurableOptions;
  readonly #outbox: Outbox;
  readonly #deliveries: Deliveries;
  #isClosed = false;

  constructor(options: DurableOptions) {
    const { stateDir, events, logger } = options;
    this.#options = options;
    this.#outbox = new Outbox({
      stateDir,
      onSetAside: (aside, detail) => logger.error({ aside, detail }, "the outbox was broken, it was set aside and a new one begun"),
      onFailure: (error) => logger.error({ err: error }, "the outbox cannot be read or written"),
    });
    this.#deliveries = new Deliveries({ outbox: this.#outbox, events, logger, now: Date.now, deliver: (row) => this.#deliver(row) });
    events.on("plugin", ({ plugin }) => this.#deliveries.wake(plugin));
    events.on("quarantine", ({ plugin }) => this.#deliveries.wake(plugin));
  }

  open(): Promise<void> {
    return this.#deliveries.open();
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

  /** True: the event of this hook is kept until its plugins have it. */
  takes(hook: string): boolean {
    return this.#options.durable.has(hook);
  }

  /** Like `run`, but resolves when the event is committed: nobody has judged it yet, and `calls` is empty. */
  async run(hook: string, event: unknown, context?: unknown, options?: RunOptions): Promise<Outcome> {
    const id = await this.#accept(hook, event, context, options?.plugin);
    return { runId: id, hook, decision: "pass", result: undefined, by: undefined, reason: undefined, calls: [] };
  }

  /** `kept` resolves when the event is committed. A rejection that nobody awaits is logged, and raises no `unhandledRejection`. */
  emit(hook: string, event: unknown, context?: unknown): Emitted {
    const accepted = this.#accept(hook, event, context).then(() => {});
    accepted.catch((error: unknown) => this.#options.logger.error({ hook, err: error }, "an emitted event was not kept"));
    return { kept: accepted };
  }

  async #accept(name: string, event: unknown, context: unknown, only?: string): Promise<string> {
    const { hooks, causes } = this.#options;
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    const id = randomBytes(12).toString("base64url");
    const prepared = prepare(hooks[name]!, event, context);
    const plugins = this.#listeners(name).filter((plugin) => only === undefined || plugin === only);
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

  /** Also plugins that are not loaded yet, or do not serve now. */
  #listeners(hook: string): string[] {
    const { registry, plugins } = this.#options;
    const ids = registry.plan(hook).flatMap(({ plugin }) => (registry.handlersOf(plugin).length > 0 ? plugin.id : []));
    return [...new Set([...ids, ...(plugins.lazyFor(hook) ?? []).map(({ id }) => id)])];
  }

  async #deliver(row: DeliveryRow): Promise<readonly Call[] | "waits" | "gone"> {
    const { hooks, plugins, registry, runs, causes } = this.#options;
    const hook = hooks[row.hook];
    const plugin = plugins.find(row.plugin);
    if (!hook || !plugin || (plugin.status !== "ready" && plugin.status !== "asleep")) return "waits";
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

/**
 * Trusted side: the durable events of a host on their way through the servers: out of its outbox into the fleet's queue, and out of the queue to
 * this host's plugins, whichever host took the event. While the servers take none, the outbox keeps them.
 */
import type { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Relay, Relayed, RelayServers } from "../../host/durable/relay.ts";
import type { Logger } from "../../host/report/log.ts";
import type { Bus } from "../bus.ts";
import type { Here } from "../messages.ts";
import { consumerOf, EVENTS, SUBJECTS } from "../subjects.ts";
import { Taker } from "./taker.ts";

export interface FleetEventsOptions {
  readonly bus: Bus;
  readonly relay: Relay;
  readonly name: string;
  readonly logger: Logger;
}

/** Room for the headers of a message. */
const HEADER_BYTES = 1_024;

export class FleetEvents implements RelayServers {
  readonly #options: FleetEventsOptions;
  readonly #takers = new Map<string, Taker>();
  #off: (() => void) | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** Until then nothing is sent: the servers have refused an event. */
  #refusal: NodeJS.Timeout | undefined;
  #why: string | undefined;

  constructor(options: FleetEventsOptions) {
    this.#options = options;
  }

  open(): void {
    const { bus, relay } = this.#options;
    this.#off = bus.onChange((isConnected) => isConnected && this.#resume());
    this.#looking = setInterval(() => this.look(), LIMITS.outbox.lookMs).unref();
    this.look();
    relay.join(this);
  }

  /** Takes events for each plugin that listens now. */
  look(): void {
    const listeners = new Set(this.#options.relay.host?.listeners());
    for (const [plugin, taker] of this.#takers)
      if (!listeners.has(plugin)) {
        this.#takers.delete(plugin);
        void taker.close();
      }
    for (const plugin of listeners) if (!this.#takers.has(plugin)) this.#takers.set(plugin, new Taker({ ...this.#options, plugin }));
  }

  /** What the host says of it. */
  get state(): NonNullable<Here["events"]> {
    const why = this.#why ?? [...this.#takers.values()].find((taker) => taker.why !== undefined)?.why;
    return { plugins: [...this.#takers.keys()].slice(0, LIMITS.state.installedPlugins), ...(why !== undefined && { why }) };
  }

  get isHeld(): boolean {
    return this.#refusal !== undefined || !this.#options.bus.isConnected;
  }

  async send(event: Relayed): Promise<"sent" | "held" | "large"> {
    const { bus, name, logger } = this.#options;
    const text = JSON.stringify({ v: 1, ...event });
    if (Buffer.byteLength(text) > bus.server.maxPayload - HEADER_BYTES) return "large";
    const consumer = consumerOf(event.plugin);
    try {
      await bus.queue(EVENTS).append(SUBJECTS.event(name, consumer), text, `${event.id}.${consumer}`);
      this.#why = undefined;
      return "sent";
    } catch (error) {
      const { code, message } = error as CreelError;
      if (code === "ERR_FLEET_AWAY") return "held";
      if (this.#why !== message)
        logger.warn({ err: error }, "durable events cannot be given to the fleet's servers now; they stay in the outbox");
      this.#why = message;
      this.#refusal ??= setTimeout(() => {
        this.#refusal = undefined;
        this.#resume();
      }, LIMITS.outbox.lookMs).unref();
      return "held";
    }
  }

  /** Takes no more, and waits for what the plugins are doing. */
  async close(): Promise<void> {
    clearInterval(this.#looking);
    clearTimeout(this.#refusal);
    this.#off?.();
    this.#options.relay.join(undefined);
    await Promise.all([...this.#takers.values()].map((taker) => taker.close()));
  }

  #resume(): void {
    if (!this.isHeld) this.#options.relay.host?.resume();
  }
}

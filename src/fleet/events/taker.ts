/**
 * Trusted side: takes the events of one plugin out of the fleet's queue, a few at a time, and has this host deliver them. An event is the
 * servers' until its handlers are done: a host that dies before it has said so makes another one deliver it again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Relay, Relayed, Verdict } from "../../host/durable/relay.ts";
import type { Logger } from "../../host/report/log.ts";
import type { Bus, Taken } from "../bus.ts";
import { fleetEvent, read } from "../messages.ts";
import type { FleetDead } from "../messages.ts";
import { consumerOf, EVENTS, LOGS, SUBJECTS } from "../subjects.ts";

export interface TakerOptions {
  readonly bus: Bus;
  readonly relay: Relay;
  readonly name: string;
  readonly plugin: string;
  readonly logger: Logger;
}

/** Handled here, and the servers could not be told: if they give it out again to this host, its handlers are not called twice. */
const REMEMBERED = 1_000;

export class Taker {
  readonly #options: TakerOptions;
  readonly #consumer: string;
  readonly #closed = new AbortController();
  readonly #handling = new Set<Promise<void>>();
  readonly #undeleted = new Set<number>();
  /** Each holds one event, or waits for one; of those that wait one is enough. */
  #workers = 0;
  #waiting = 0;
  /** Why no events can be taken; undefined: they can. */
  why: string | undefined;

  constructor(options: TakerOptions) {
    this.#options = options;
    this.#consumer = consumerOf(options.plugin);
    this.#more();
  }

  /** Waits for what the plugin is doing. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#handling);
  }

  #more(): void {
    if (this.#waiting === 0 && this.#workers < LIMITS.outbox.atOnce && !this.#closed.signal.aborted) void this.#work();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    const { signal } = this.#closed;
    this.#workers += 1;
    while (!signal.aborted) {
      this.#waiting += 1;
      const taken = await this.#take();
      this.#waiting -= 1;
      // Pulled while this host was closing: another one need not wait until this one counts as dead.
      if (signal.aborted) taken?.again(0);
      else if (taken) {
        this.#more();
        const handling = this.#handle(taken);
        this.#handling.add(handling);
        await handling;
        this.#handling.delete(handling);
      }
      if (this.#waiting > 0) break;
    }
    this.#workers -= 1;
  }

  async #take(): Promise<Taken | undefined> {
    const { bus, plugin, logger } = this.#options;
    try {
      const taken = await bus.queue(EVENTS).take(this.#consumer, LIMITS.fleet.pullMs);
      this.why = undefined;
      return taken;
    } catch (error) {
      if (this.#closed.signal.aborted) return undefined;
      const failure = isMissing(error) ? new CreelError("ERR_FLEET_EVENTS", { plugin }) : (error as CreelError);
      if (failure.code !== "ERR_FLEET_AWAY") {
        if (this.why !== failure.message)
          logger.warn({ plugin, err: failure }, "durable events cannot be taken from the fleet's servers now");
        this.why = failure.message;
      }
      const pauseMs = failure.code === "ERR_FLEET_AWAY" ? LIMITS.fleet.reconnectMs : LIMITS.outbox.lookMs;
      await this.#pause(pauseMs);
      return undefined;
    }
  }

  /** Never rejects. */
  async #handle(taken: Taken): Promise<void> {
    const { relay, plugin, logger } = this.#options;
    const working = setInterval(() => taken.working(), LIMITS.fleet.ackMs / 3);
    try {
      if (this.#undeleted.has(taken.number)) return await this.#done(taken);
      // No limit of its own: it has come through the server's.
      const event = read(fleetEvent, taken.text, Infinity);
      // SECURITY: an event reaches only the plugin that its subject names. test/fleet/events/events.test.ts
      if (!event || event.plugin !== plugin) {
        logger.error({ plugin, from: taken.subject.split(".")[2] }, "a message among the fleet's events is none, and was dropped");
        return await this.#done(taken);
      }
      const verdict = await relay.host!.receive(event, taken.attempt);
      await this.#settle(taken, event, verdict);
    } catch (error) {
      // The servers are away, or choose a leader: they give it out again.
      logger.debug({ plugin, err: error }, "the fleet's servers were not told what became of a durable event");
    } finally {
      clearInterval(working);
    }
  }

  async #settle(taken: Taken, event: Relayed, verdict: Verdict): Promise<void> {
    const { bus, name } = this.#options;
    if (verdict.kind === "again") {
      taken.again(verdict.pauseMs);
      // The others wait as well, or go to another host.
      if (verdict.isWaiting) await this.#pause(verdict.pauseMs);
      return;
    }
    if (verdict.kind === "dead") {
      const { attempts, status, why } = verdict;
      const dead: FleetDead = { v: 1, ...event, attempts, at: Date.now(), status, why };
      await bus.log(LOGS.dead).append(SUBJECTS.dead(name), JSON.stringify(dead), `${event.id}.${this.#consumer}.${taken.number}`);
    }
    await this.#done(taken);
  }

  async #done(taken: Taken): Promise<void> {
    this.#undeleted.add(taken.number);
    if (this.#undeleted.size > REMEMBERED) this.#undeleted.delete(this.#undeleted.values().next().value!);
    await taken.done();
    this.#undeleted.delete(taken.number);
  }

  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#closed.signal, ref: false }).catch(() => {});
  }
}

/** Nobody answers for a consumer that does not exist, and none that has no leader now. */
function isMissing(error: unknown): boolean {
  return error instanceof CreelError && error.code === "ERR_FLEET_NOBODY";
}

/**
 * Trusted side, an operator's command: makes the fleet's queue of durable events and a consumer for each plugin, says what waits in it, and reads
 * what hosts have given up. Hosts' words are checked, and untrusted text.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Backlog, Bus } from "../bus.ts";
import { fleetDead, read } from "../messages.ts";
import type { FleetDead } from "../messages.ts";
import { consumerOf, EVENTS, LOGS, SUBJECTS, writerOf } from "../subjects.ts";

export interface DeadEvent extends FleetDead {
  /** In the log. */
  readonly number: number;
  /** Who gave it up. */
  readonly host: string;
}

export class OperatorEvents {
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  async make(replicas: number): Promise<void> {
    await this.#bus.makeQueue(EVENTS, [SUBJECTS.event("*", "*")], replicas);
    await this.#bus.makeLog(LOGS.dead, [SUBJECTS.dead("*")], replicas, LIMITS.fleet.deadDays, true);
  }

  /** Those that are there stay as they are: what waits for them is theirs. */
  async makeConsumers(plugins: Iterable<string>): Promise<void> {
    const queue = this.#bus.queue(EVENTS);
    for (const plugin of new Set(plugins)) await queue.makeConsumer(consumerOf(plugin), SUBJECTS.event("*", consumerOf(plugin)));
  }

  /** By consumer. Undefined: there is no queue. */
  backlogs(): Promise<Backlog[] | undefined> {
    return this.#bus.queue(EVENTS).backlogs();
  }

  /** Throws when there is none of that id. */
  async dead(id: string | undefined, plugin: string | undefined): Promise<DeadEvent[]> {
    const log = this.#bus.log(LOGS.dead);
    const found: DeadEvent[] = [];
    for (let number = 0; ;) {
      const stored = await log.next(number);
      if (!stored) break;
      ({ number } = stored);
      const host = writerOf(stored.subject, "dead");
      const dead = read(fleetDead, stored.text, Infinity);
      if (host === undefined || !dead) continue;
      if ((id === undefined || dead.id === id) && (plugin === undefined || dead.plugin === plugin)) found.push({ ...dead, number, host });
    }
    if (id !== undefined && found.length === 0) throw new CreelError("ERR_OUTBOX_UNKNOWN", { id });
    return found;
  }

  /** Their age begins again. `name`: of this operator. */
  async replay(events: readonly DeadEvent[], name: string): Promise<number> {
    for (const event of events) {
      const { number, host: _, attempts: __, at: ___, status: ____, why: _____, ...rest } = event;
      const consumer = consumerOf(event.plugin);
      const text = JSON.stringify({ ...rest, made: Date.now() });
      // Deleted only when the servers have it again. Of the log's number: a second replay of the same entry is dropped.
      await this.#bus.queue(EVENTS).append(SUBJECTS.event(name, consumer), text, `${event.id}.${consumer}.${number}.again`);
      await this.#bus.log(LOGS.dead).delete(number);
    }
    return events.length;
  }

  async drop(events: readonly DeadEvent[]): Promise<number> {
    for (const { number } of events) await this.#bus.log(LOGS.dead).delete(number);
    return events.length;
  }
}

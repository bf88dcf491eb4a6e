/**
 * Trusted side: delivers events that come from the servers of a fleet to the plugins of this host, by the rules of the outbox. Another host has
 * sent them, so each is checked as if a gateway had emitted it here. One that takes the sandbox or a budget with it is tried again on this
 * host, so that it does not cost others theirs.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { RateWindow } from "../../protocol/rules/rate-window.ts";
import type { HostEvents } from "../report/events.ts";
import type { Logger } from "../report/log.ts";
import { prepare } from "../run/prepare.ts";
import type { Relayed, Verdict } from "./relay.ts";
import { GONE, isTooOld, judged, pauseAfter, tellDelivery } from "./verdict.ts";
import type { Calls, Delivery } from "./verdict.ts";

export interface ReceivedOptions {
  readonly hooks: Readonly<Record<string, AnyHook>>;
  readonly events: HostEvents;
  readonly logger: Logger;
  readonly now: () => number;
  readonly isOpen: () => boolean;
  deliver(delivery: Delivery): Promise<Calls>;
}

export class Received {
  readonly #options: ReceivedOptions;
  readonly #told = new Map<string, RateWindow>();

  constructor(options: ReceivedOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async receive(given: Relayed, first: number): Promise<Verdict> {
    const { events, now, isOpen } = this.#options;
    const event = { ...given, chain: isJson(given.chain) ? given.chain : null };
    let checked: Relayed;
    try {
      checked = this.#checked(event);
    } catch (error) {
      return this.#dead({ ...event, attempt: first }, "invalid", (error as CreelError).message);
    }
    for (let attempt = first, fatal = 0; ; attempt++) {
      const delivery: Delivery = { ...checked, attempt };
      const found = judged(await this.#options.deliver(delivery).catch(() => "waits" as const), isOpen());
      if (found.kind === "done" || found.kind === "gone") {
        if (found.kind === "done") tellDelivery(events, delivery, now(), "delivered");
        else tellDelivery(events, delivery, now(), "dropped", GONE);
        return { kind: "done" };
      }
      const { kind, status, why } = found;
      // By the clocks of two machines: an hour's difference is an hour more or less of a day.
      const ageMs = now() - event.made;
      fatal += kind === "fatal" ? 1 : 0;
      if (isTooOld(ageMs) || fatal >= LIMITS.outbox.fatalAttempts) return this.#dead(delivery, status, why);
      if (kind === "waits") return { kind: "again", pauseMs: LIMITS.outbox.lookMs, why, isWaiting: true };
      tellDelivery(events, delivery, now(), "failed", why);
      if (kind === "failed") return { kind: "again", pauseMs: pauseAfter(ageMs), why, isWaiting: false };
      await sleep(LIMITS.outbox.firstPauseMs);
    }
  }

  /** Throws a CreelError if no gateway could have emitted it. */
  #checked(event: Relayed): Relayed {
    const hook = this.#options.hooks[event.hook];
    // A host of another version may have sent it: it waits for one that knows the hook.
    if (hook?.kind !== "observe") return event;
    const { eventText, contextText } = prepare(hook, JSON.parse(event.event), JSON.parse(event.context));
    return { ...event, event: eventText, context: contextText };
  }

  #dead(delivery: Delivery, status: string, why: string): Verdict {
    const { events, logger, now } = this.#options;
    const { plugin, hook, id, attempt } = delivery;
    tellDelivery(events, delivery, now(), "dead", why);
    let told = this.#told.get(plugin);
    if (!told) this.#told.set(plugin, (told = new RateWindow(1, LIMITS.outbox.tellMs)));
    if (told.admit())
      logger.error(
        { plugin, hook, delivery: id, attempts: attempt, detail: why },
        'an event was not delivered and is kept on the servers: see "creel --fleet dead list"',
      );
    return { kind: "dead", attempts: attempt, status, why };
  }
}

function isJson(text: string | null): boolean {
  try {
    return text !== null && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

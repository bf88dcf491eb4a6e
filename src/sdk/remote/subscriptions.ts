/** Trusted side: the listeners of a joined host. They outlive a connection: each new one subscribes for all of them again. */
import type { FactName } from "../../host/report/events.ts";
import type { Logger } from "../../host/report/log.ts";
import type { HostLink, Told } from "./host-link.ts";

interface Subscription {
  readonly fact: FactName;
  readonly listener: (fact: never) => void;
  /** The id on the current connection. */
  id: number | undefined;
}

export class Subscriptions {
  readonly #all = new Set<Subscription>();
  readonly #logger: Logger;
  readonly #link: () => HostLink | undefined;

  constructor(logger: Logger, link: () => HostLink | undefined) {
    this.#logger = logger;
    this.#link = link;
  }

  /** Returns the function that ends it. */
  add(fact: FactName, listener: (fact: never) => void): () => void {
    const subscription: Subscription = { fact, listener, id: undefined };
    this.#all.add(subscription);
    const link = this.#link();
    if (link?.isOpen) this.#subscribe(link, subscription);
    return () => {
      this.#all.delete(subscription);
      if (subscription.id !== undefined) this.#link()?.cancel(subscription.id);
    };
  }

  connected(link: HostLink): void {
    for (const subscription of this.#all) this.#subscribe(link, subscription);
  }

  lost(): void {
    for (const subscription of this.#all) subscription.id = undefined;
  }

  tell({ subscription, fact, event }: Told): void {
    for (const { id, listener } of this.#all) if (id === subscription) this.safely(() => listener(revived(event, fact) as never));
  }

  /** Does the work of a listener. */
  safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#logger.error({ err: error }, "a listener of the host threw");
    }
  }

  #subscribe(link: HostLink, subscription: Subscription): void {
    const { id, answer } = link.start("subscribe", { facts: [subscription.fact] });
    subscription.id = id;
    answer.catch((error: unknown) => {
      if (link.isOpen) this.#logger.error({ fact: subscription.fact, err: error }, "the host refused a subscription");
    });
  }
}

/** JSON has no dates. */
function revived(event: string, fact: Record<string, unknown>): Record<string, unknown> {
  return event === "quarantine" && typeof fact.until === "string" ? { ...fact, until: new Date(fact.until) } : fact;
}

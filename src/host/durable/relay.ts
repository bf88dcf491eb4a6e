/**
 * Trusted side: between a host's outbox and servers that keep its events from then on (`through: "jetstream"`). The host has one end, Durable;
 * the servers have the other, once the host has joined its fleet (src/fleet/events). Before that, and while the servers take nothing, events
 * stay in the outbox: they are not delivered here, or two hosts would have different rules for the same event.
 */
import type { Delivery } from "./verdict.ts";

/** An event for one plugin. `event`, `context` and `chain` are JSON. */
export type Relayed = Omit<Delivery, "attempt">;

/** What a host did with an event from the servers. */
export type Verdict =
  | { readonly kind: "done" }
  | {
      readonly kind: "again";
      readonly pauseMs: number;
      readonly why: string;
      /** Nothing of the plugin can be called now. */ readonly isWaiting: boolean;
    }
  | { readonly kind: "dead"; readonly attempts: number; readonly status: string; readonly why: string };

/** The end of the servers. */
export interface RelayServers {
  /** They take nothing now. */
  readonly isHeld: boolean;
  /** "sent": they have it. "held": not now. "large": never, so this host delivers it. Never rejects. */
  send(event: Relayed): Promise<"sent" | "held" | "large">;
}

/** The end of the host. */
export interface RelayHost {
  /** The plugins that listen to a durable hook and can be called now. */
  listeners(): string[];
  receive(event: Relayed, attempt: number): Promise<Verdict>;
  /** The servers may take events again. */
  resume(): void;
}

export class Relay {
  #servers: RelayServers | undefined;
  #host: RelayHost | undefined;

  /** Undefined: no hook of it is durable. */
  get host(): RelayHost | undefined {
    return this.#host;
  }

  get isHeld(): boolean {
    return this.#servers?.isHeld ?? true;
  }

  attach(host: RelayHost): void {
    this.#host = host;
  }

  /** Undefined: the host has left. */
  join(servers: RelayServers | undefined): void {
    this.#servers = servers;
    if (servers) this.#host?.resume();
  }

  send(event: Relayed): Promise<"sent" | "held" | "large"> {
    return this.#servers?.send(event) ?? Promise.resolve("held");
  }
}

/**
 * Trusted side: facts about a host. Each is published once, on a `node:diagnostics_channel` named `creel:<kind>`; the log,
 * `host.on`, metrics and traces all subscribe. With no subscriber a fact costs one property read.
 */
import { channel } from "node:diagnostics_channel";
import type { Channel } from "node:diagnostics_channel";
import type { Chain } from "./causes.ts";
import type { CircuitState } from "./circuit.ts";
import type { Call, Outcome } from "../protocol/outcome.ts";

export interface Facts {
  /** A handler was called. */
  call: { runId: string; hook: string; call: Call };
  /** A hook was run. */
  run: { outcome: Outcome; wallMs: number };
  /** A plugin wrote a line. */
  log: { plugin: string; level: "debug" | "info" | "warn" | "error"; text: string; runId: string | undefined };
  /** A plugin was loaded, failed to load, or was disabled. */
  plugin: { plugin: string; status: string; error?: string; diagnostics: readonly string[] };
  /** A plugin's cell was disposed of and rebuilt. */
  replaced: { plugin: string; why: string };
  /** A loop was stopped, of patches, or of requests that come back to the gateway; those name no session. Once per loop. */
  recursion: { plugin: string; sessionKey: string | undefined; limit: "depth" | "rate"; chain: Chain };
  /** A plugin's breaker changed; `until`: while it is open. */
  quarantine: { plugin: string; state: CircuitState | "released"; why: string; until?: Date };
  /** A secret was sent with a plugin's request, or found in the answer and taken out. */
  secret: { plugin: string; secret: string; origin: string; what: "sent" | "redacted" };
  /** A plugin asked for what it was not granted, or what is not there. */
  refused: { plugin: string; service: string; message: string };
  /** A thread or the process behind lanes died and was started again. */
  restart: { why: string; lanes: readonly number[]; culprit: string | undefined };
}

export type FactName = keyof Facts;

const CHANNELS: Record<FactName, Channel> = {
  call: channel("creel:call"),
  run: channel("creel:run"),
  log: channel("creel:log"),
  plugin: channel("creel:plugin"),
  replaced: channel("creel:replaced"),
  recursion: channel("creel:recursion"),
  quarantine: channel("creel:quarantine"),
  restart: channel("creel:restart"),
  secret: channel("creel:secret"),
  refused: channel("creel:refused"),
};

/** On the channel every fact names its host: channels are shared by the process. */
type Published<K extends FactName> = Facts[K] & { readonly host: string };

export class HostEvents {
  readonly #host: string;
  readonly #subscriptions = new Set<() => void>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(host: string, onListenerError: (error: unknown) => void) {
    this.#host = host;
    this.#onListenerError = onListenerError;
  }

  wants(name: FactName): boolean {
    return CHANNELS[name].hasSubscribers;
  }

  publish<K extends FactName>(name: K, fact: Facts[K]): void {
    if (CHANNELS[name].hasSubscribers) CHANNELS[name].publish({ host: this.#host, ...fact } satisfies Published<K>);
  }

  /** Gives the function that ends the subscription. A listener that throws does not disturb the host. */
  on<K extends FactName>(name: K, listener: (fact: Facts[K]) => void): () => void {
    const receive = (message: unknown): void => {
      if ((message as Published<K>).host !== this.#host) return;
      try {
        listener(message as Published<K>);
      } catch (error) {
        this.#onListenerError(error);
      }
    };
    CHANNELS[name].subscribe(receive);
    const off = (): void => {
      CHANNELS[name].unsubscribe(receive);
      this.#subscriptions.delete(off);
    };
    this.#subscriptions.add(off);
    return off;
  }

  close(): void {
    for (const off of this.#subscriptions) off();
  }
}

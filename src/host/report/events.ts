/**
 * Trusted side: facts about a host. Each is published once, on a `node:diagnostics_channel` named `creel:<kind>`; the log,
 * `host.on`, metrics and traces all subscribe. With no subscriber a fact costs one property read. Each fact has a number and a time.
 */
import { channel } from "node:diagnostics_channel";
import type { Channel } from "node:diagnostics_channel";
import type { Chain } from "../causality/causes.ts";
import type { CircuitState } from "../blame/circuit.ts";
import type { ApprovalResolution } from "../../protocol/hooks/tool.ts";
import type { AnswerOrigin, PendingApproval, RecordedCall, RecordedChain, Stamp } from "../../protocol/live-report.ts";
import type { Outcome } from "../../protocol/outcome.ts";

export interface Facts {
  /** A run has begun: its handlers are about to be called. `activateMs`: it has waited so long for lazy plugins to load. */
  begun: { runId: string; hook: string; plugins: readonly string[]; activateMs: number; chain: RecordedChain };
  /** A handler was called. Published when its run has ended. */
  call: { runId: string; hook: string; call: RecordedCall; chain: RecordedChain };
  /** A hook was run. `wallMs` includes `activateMs`, and the wait for a user. */
  run: { outcome: Outcome; wallMs: number; activateMs: number; chain: RecordedChain };
  /** The gateway gave up a run that had begun; no `run` follows. */
  aborted: { runId: string; hook: string; wallMs: number; chain: RecordedChain };
  /** A plugin wrote a line. */
  log: { plugin: string; level: "debug" | "info" | "warn" | "error"; text: string; runId: string | undefined };
  /** A plugin was loaded, failed to load, or was disabled. No run causes it as a rule, so it has no chain. */
  plugin: { plugin: string; status: string; error?: string; diagnostics: readonly string[] };
  /** A plugin's cell was disposed of and rebuilt. */
  replaced: { plugin: string; why: string; code?: string };
  /** A plugin was moved to another lane, or rests in the slow lane, so that its neighbours do not wait for it. */
  moved: { plugin: string; lane: number; why: string };
  /** A loop of patches, or of requests that come back to the gateway (then without a session), was stopped. Once per loop. */
  recursion: { plugin: string; sessionKey: string | undefined; limit: "depth" | "rate"; chain: Chain };
  /** A plugin's breaker changed; `until`: while it is open. */
  quarantine: { plugin: string; state: CircuitState | "released"; why: string; until?: Date };
  /** A secret was sent with a plugin's request, or found in the response and redacted. */
  secret: { plugin: string; secret: string; origin: string; what: "sent" | "redacted" };
  /** A plugin requested a service that it was not granted, or that does not exist. */
  refused: { plugin: string; service: string; message: string };
  /** An event of a durable hook was delivered, failed and will be tried again, was given up, or dropped: its plugin does not listen any more. */
  delivery: {
    plugin: string;
    hook: string;
    id: string;
    attempt: number;
    status: "delivered" | "failed" | "dead" | "dropped";
    why?: string;
  };
  /** An approval waits for an answer, was answered or cancelled, or got no answer in time. */
  approval: {
    what: "asked" | "settled" | "expired";
    id: string;
    runId: string;
    toolName: string;
    plugins: readonly string[];
    /** Of `asked`. */
    pending?: PendingApproval;
    /** The others: how it ended, who decided, and the way the answer came. */
    resolution?: ApprovalResolution;
    by?: string;
    from?: AnswerOrigin | "none";
    waitedMs?: number;
  };
  /** A thread or the process behind lanes died and was started again. */
  restart: { why: string; lanes: readonly number[]; culprit: string | undefined };
}

export type FactName = keyof Facts;

const CHANNELS: Record<FactName, Channel> = {
  begun: channel("creel:begun"),
  call: channel("creel:call"),
  run: channel("creel:run"),
  aborted: channel("creel:aborted"),
  log: channel("creel:log"),
  plugin: channel("creel:plugin"),
  replaced: channel("creel:replaced"),
  moved: channel("creel:moved"),
  recursion: channel("creel:recursion"),
  quarantine: channel("creel:quarantine"),
  restart: channel("creel:restart"),
  secret: channel("creel:secret"),
  refused: channel("creel:refused"),
  delivery: channel("creel:delivery"),
  approval: channel("creel:approval"),
};

/**
 * What caused it, of facts that are not about a run; its last run is the one in which the plugin was at work. Absent: no plugin did, or the
 * run is not known: as when a plugin loads, when it has used too much over time, or when a process was lost that executed no run.
 */
interface Caused {
  readonly chain?: RecordedChain;
}

/** A fact as its listeners get it. */
export type Fact<K extends FactName = FactName> = Facts[K] & Stamp & (Facts[K] extends { chain: unknown } ? unknown : Caused);

/** On the channel every fact names its host: channels are shared by the process. */
type Published<K extends FactName> = Fact<K> & { readonly host: string };

export class HostEvents {
  readonly #host: string;
  readonly #subscriptions = new Set<() => void>();
  readonly #onListenerError: (error: unknown) => void;
  /** The number of the latest fact. */
  seq = 0;
  #chain: RecordedChain | undefined;
  /** The chain of what the host does now for a plugin. */
  chainNow: () => RecordedChain | undefined = () => undefined;

  constructor(host: string, onListenerError: (error: unknown) => void) {
    this.#host = host;
    this.#onListenerError = onListenerError;
  }

  wants(name: FactName): boolean {
    return CHANNELS[name].hasSubscribers;
  }

  /** What is published in `work`, which does not wait, has this chain. */
  within<T>(chain: RecordedChain | undefined, work: () => T): T {
    const before = this.#chain;
    this.#chain = chain;
    try {
      return work();
    } finally {
      this.#chain = before;
    }
  }

  /** Takes a number for a fact that a reader may ask for later. */
  number(): number {
    return ++this.seq;
  }

  /** `seq`: the number that the fact has already. */
  publish<K extends FactName>(name: K, fact: Facts[K], seq?: number): void {
    if (!CHANNELS[name].hasSubscribers) return;
    const stamp: Stamp = { seq: seq ?? this.number(), at: Date.now() };
    const chain = "chain" in fact ? undefined : (this.#chain ?? this.chainNow());
    CHANNELS[name].publish({ host: this.#host, ...stamp, ...(chain && { chain }), ...fact });
  }

  /** Returns the function that ends the subscription. A listener that throws does not disturb the host. */
  on<K extends FactName>(name: K, listener: (fact: Fact<K>) => void): () => void {
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

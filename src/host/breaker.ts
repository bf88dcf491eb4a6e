/**
 * Trusted side: the breakers of a host's plugins: what counts against whom, who is told when one changes, and what is kept.
 * A plugin is struck for what it did, never for what happened to it: a call that died with a sandbox says nothing about
 * the plugin; whoever took the sandbox down is struck by the supervision, by name.
 */
import { LIMITS } from "../protocol/limits.ts";
import type { Call, CallError, Outcome } from "../protocol/outcome.ts";
import type { Circuit, StrikeKind } from "./circuit.ts";
import type { HostEvents } from "./events.ts";
import { ownError } from "./guest-error.ts";
import type { Plugin } from "./plugin.ts";
import type { QuarantineEntry, QuarantineFile } from "./quarantine-file.ts";
import type { RunInput } from "./runner/run-input.ts";

export interface BreakerOptions {
  readonly events: HostEvents;
  /** Undefined: quarantine ends with the process. */
  readonly file: QuarantineFile | undefined;
  /** A plugin must not run any more. */
  quarantine(plugin: Plugin): void;
}

export class Breaker {
  /** No circuit refuses anything, so that none need be asked. */
  isCalm = true;
  readonly #options: BreakerOptions;
  readonly #kept: Map<string, QuarantineEntry>;
  readonly #wary = new Set<Plugin>();
  /** Which code a circuit is about. */
  readonly #digests = new Map<Plugin, string>();

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#kept = options.file?.read() ?? new Map();
  }

  /** A plugin was bundled: what is known about exactly this code counts, and nothing else. */
  meet(plugin: Plugin): void {
    const { digest } = plugin.bundle!;
    this.#digests.set(plugin, digest);
    this.#restore(plugin, digest);
  }

  /** A version that is tried while another serves: what it does counts against itself alone. */
  tries(plugin: Plugin): void {
    plugin.circuit.changed = (state) => state === "quarantined" && this.#options.quarantine(plugin);
  }

  isSame(plugin: Plugin, other: Plugin): boolean {
    const digest = this.#digests.get(other);
    return digest !== undefined && digest === plugin.bundle?.digest;
  }

  /** Another version takes a plugin's place. The same code goes on with what is known about it, as does one that could not even be bundled. */
  succeeds(plugin: Plugin, before: Plugin): void {
    const known = this.#digests.get(before);
    const digest = plugin.bundle?.digest ?? known;
    this.#digests.delete(before);
    this.#wary.delete(before);
    if (known === undefined) {
      if (plugin.bundle) this.meet(plugin);
      return;
    }
    this.#digests.set(plugin, digest!);
    if (known === digest) {
      plugin.circuit = before.circuit;
      plugin.registered ??= before.registered;
    } else {
      const isOver = before.circuit.state !== "closed";
      before.circuit.release(CHANGED);
      before.circuit.changed = () => {};
      if (isOver) plugin.circuit.restore({ state: "closed", why: CHANGED, since: Date.now(), opens: [], kills: [], loadKills: 0 });
    }
    this.#bind(plugin);
    this.#mind(plugin);
  }

  /** What a run says about the plugins in it. `calls` are those of the whole plan, in its order. */
  learn({ plan, cause }: RunInput, { calls }: Outcome): void {
    for (let at = 0; at < calls.length; at++) {
      const call = calls[at]!;
      const { plugin, tally } = plan[at]!;
      const { circuit } = plugin;
      if (call.status !== "ok") notGood(circuit, call, cause);
      else if (!circuit.isClear) circuit.good(cause);
      // Who was not called was not entered.
      if (call.wallMs > 0 || call.status === "ok") tally.calls += 1;
    }
  }

  /** The gateway gave a run up: nothing is learnt from it. */
  forgo({ plan, cause }: RunInput): void {
    if (!this.isCalm) for (const { plugin } of plan) plugin.circuit.forgo(cause);
  }

  #restore(plugin: Plugin, digest: string): void {
    const { circuit } = plugin;
    this.#bind(plugin);
    const kept = this.#kept.get(plugin.id);
    if (!kept) return;
    if (kept.bundle !== digest) {
      this.#options.file?.set(plugin.id, undefined);
      if (kept.state !== "closed") this.#tell(plugin, "released", CHANGED);
      return;
    }
    plugin.registered = kept.handlers;
    circuit.restore(kept);
    this.#mind(plugin);
    if (circuit.state !== "closed") this.#tell(plugin, circuit.state, circuit.why);
  }

  #bind(plugin: Plugin): void {
    plugin.circuit.changed = (state) => this.#changed(plugin, state);
  }

  #changed(plugin: Plugin, state: Circuit["state"] | "released"): void {
    const { circuit } = plugin;
    this.#mind(plugin);
    const record = circuit.record();
    this.#options.file?.set(
      plugin.id,
      record && {
        ...record,
        opens: [...record.opens],
        kills: [...record.kills],
        bundle: this.#digests.get(plugin)!,
        handlers: plugin.registered ?? [],
      },
    );
    this.#tell(plugin, state, circuit.why);
    if (state === "quarantined") this.#options.quarantine(plugin);
  }

  #mind(plugin: Plugin): void {
    if (plugin.circuit.state === "closed") this.#wary.delete(plugin);
    else this.#wary.add(plugin);
    this.isCalm = this.#wary.size === 0;
  }

  #tell({ id, circuit }: Plugin, state: Circuit["state"] | "released", why: string): void {
    this.#options.events.publish("quarantine", { plugin: id, state, why, ...(circuit.until && { until: circuit.until }) });
  }
}

const CHANGED = "its code has changed";

/** A handler that is not called, and why. */
export function refusal({ id, circuit }: Plugin): CallError {
  const until = {
    open: `until ${circuit.until?.toISOString()}`,
    "half-open": "until the call that tries it has ended",
    quarantined: "until its code changes",
    closed: "",
  };
  return ownError("ERR_PLUGIN_QUARANTINED", { plugin: id, until: until[circuit.state], why: circuit.why });
}

/** A cell that was replaced is one strike, however many calls died with it, and even if none did. */
export function strikeFault({ circuit }: Plugin, { code, message }: CallError): void {
  const kind = FAULTS[code] ?? "crashed";
  if (kind !== "call") circuit.strike(kind, message);
}

/**
 * The sandbox died while it was in the plugin's cell, or was loading it. One death while it was loaded may be somebody else's doing, or an
 * accident; a second one is held against it, and the first with it.
 */
export function strikeKilled(plugin: Plugin, why: string, isSure: boolean): void {
  const { circuit, isOpening } = plugin;
  if (isOpening) plugin.loadDeaths += 1;
  else circuit.strike("killed", why);
  if (isSure || plugin.loadDeaths >= LIMITS.breakerLoadKills)
    for (; plugin.loadDeaths > 0; plugin.loadDeaths--) circuit.strike("killed", why, { atLoad: true });
}

const FAULTS: Partial<Record<CallError["code"], StrikeKind | "call">> = {
  ERR_CALL_CPU: "cpu",
  ERR_CALL_MEMORY: "memory",
  // The machine may have been too busy: as little as can be, and a good call takes it back.
  ERR_CALL_TURN: "failed",
  // There is a call that ran out of time, and it counts.
  ERR_CALL_TIMEOUT: "call",
};

/** What is no doing of the handler's: it was not entered, its lane was busy, or its sandbox died; for that the supervision strikes, if it is to blame. */
const BLAMELESS: ReadonlySet<CallError["code"]> = new Set<CallError["code"]>([
  "ERR_CALL_NOT_LOADED",
  "ERR_CALL_PENDING",
  "ERR_CALL_EVENT_SIZE",
  "ERR_CALL_WEDGED",
  "ERR_SANDBOX_STUCK",
]);

function notGood(circuit: Circuit, { status, error }: Call, run: number): void {
  if (!error || BLAMELESS.has(error.code)) return circuit.forgo(run);
  switch (status) {
    case "timeout":
    case "cpu":
    case "memory":
      // That its cell was replaced has counted, or will; here it is only said how the call that tries it went.
      if (error.code !== "ERR_CALL_TIMEOUT" && !circuit.isTriedBy(run)) return undefined;
      return circuit.strike(status, error.message, { run });
    case "failed":
      return circuit.strike("failed", error.message, { run });
    default:
      return circuit.forgo(run);
  }
}

/**
 * Trusted side: the breakers of a host's plugins: which failures count against which plugin, and what survives a restart. A plugin gets a
 * strike for what it did, never for what happened to it: a call that was lost with its sandbox says nothing about the plugin. The
 * supervisor names the culprit of a lost sandbox, and that plugin gets the strike.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { Call, CallError, Outcome } from "../../protocol/outcome.ts";
import type { Circuit, StrikeKind } from "./circuit.ts";
import type { HostEvents } from "../report/events.ts";
import { chainAfter } from "../causality/recorded-chain.ts";
import { ownError } from "../run/guest-error.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { QuarantineStore } from "../stores.ts";
import type { QuarantineEntry } from "./quarantine-file.ts";
import type { RunInput } from "../run/run-input.ts";

export interface BreakerOptions {
  readonly events: HostEvents;
  /** Undefined: quarantine ends with the process. */
  readonly file: QuarantineStore | undefined;
  /** Takes a plugin out of its cell. */
  quarantine(plugin: Plugin): void;
  /** Stops or resumes a plugin's timers: its circuit refuses calls, or lets one through again. */
  pause(plugin: Plugin, isPaused: boolean): void;
}

export class Breaker {
  /** All circuits are closed, so that a run need not ask them one by one. */
  allClosed = true;
  readonly #options: BreakerOptions;
  readonly #kept: Map<string, QuarantineEntry>;
  readonly #wary = new Set<Plugin>();
  /** The digest of the code that a circuit is about. */
  readonly #digests = new Map<Plugin, string>();

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#kept = options.file?.read() ?? new Map();
  }

  /** A plugin was bundled: only what is known about exactly this code counts. */
  meet(plugin: Plugin): void {
    const { digest } = plugin.bundle!;
    this.#digests.set(plugin, digest);
    this.#restore(plugin, digest);
  }

  /** A version is being tried while another serves: its failures count against itself alone. */
  tries(plugin: Plugin): void {
    plugin.circuit.changed = (state) => state === "quarantined" && this.#options.quarantine(plugin);
    plugin.circuit.rested = (isResting) => this.#options.pause(plugin, isResting);
  }

  /** What another host needs to know of a quarantine for good; undefined: it is in none. */
  quarantined(plugin: Plugin): QuarantineEntry | undefined {
    if (plugin.circuit.state !== "quarantined" || !this.#digests.has(plugin)) return undefined;
    return this.#entryOf(plugin);
  }

  /** Another host of the fleet has quarantined this code. A plugin that sleeps is met by it when it is woken. False: it is in quarantine, or other code. */
  adopt(plugin: Plugin, entry: QuarantineEntry): boolean {
    const digest = this.#digests.get(plugin);
    if (digest === undefined) {
      if (plugin.bundle || plugin.status !== "asleep") return false;
      // SECURITY: what this host has found is not replaced by a word about other code, which would let it out. test/fleet/quarantine.test.ts
      if (this.#kept.get(plugin.id)?.state === "quarantined") return false;
      this.#kept.set(plugin.id, entry);
      this.#options.file?.set(plugin.id, entry);
      return true;
    }
    if (digest !== entry.bundle || plugin.circuit.state === "quarantined") return false;
    plugin.registered ??= entry.handlers;
    plugin.circuit.quarantine(entry.why);
    return true;
  }

  /** A plugin that sleeps is released: nothing is kept for when it is woken. */
  forget(plugin: Plugin): void {
    if (this.#digests.has(plugin) || !this.#kept.delete(plugin.id)) return;
    this.#options.file?.set(plugin.id, undefined);
    this.#options.events.publish("quarantine", { plugin: plugin.id, state: "released", why: "the operator released it" });
  }

  isSame(plugin: Plugin, other: Plugin): boolean {
    const digest = this.#digests.get(other);
    return digest !== undefined && digest === plugin.bundle?.digest;
  }

  /** Another version takes a plugin's place. The same code keeps its circuit, and so does a version that could not be bundled. */
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
    // Its cell was opened before it had this circuit.
    if (plugin.circuit.isResting) this.#options.pause(plugin, true);
  }

  /** Learns from the calls of a run. `calls` are those of the whole plan, in its order. */
  learn(input: RunInput, { calls }: Outcome): void {
    const { plan, cause } = input;
    for (let at = 0; at < calls.length; at++) {
      const call = calls[at]!;
      const { plugin, callCount, absent } = plan[at]!;
      const { circuit } = plugin;
      if (call.status !== "ok") {
        // A plugin that does not serve has done nothing. Most of the others were skipped: nothing is published, so no chain is made.
        if (!absent)
          if (call.error) this.#options.events.within(chainAfter(input, plugin.id), () => notGood(circuit, call, cause));
          else circuit.forgo(cause);
      } else if (!circuit.isClear) this.#options.events.within(chainAfter(input, plugin.id), () => circuit.good(cause));
      // Skipped handlers are not counted.
      if (call.wallMs > 0 || call.status === "ok") callCount.calls += 1;
    }
  }

  /** The gateway aborted a run: it says nothing about its plugins. */
  forgo({ plan, cause }: RunInput): void {
    if (!this.allClosed) for (const { plugin } of plan) plugin.circuit.forgo(cause);
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
    plugin.circuit.rested = (isResting) => this.#options.pause(plugin, isResting);
  }

  #changed(plugin: Plugin, state: Circuit["state"] | "released"): void {
    const { circuit } = plugin;
    this.#mind(plugin);
    this.#options.file?.set(plugin.id, this.#entryOf(plugin));
    this.#tell(plugin, state, circuit.why);
    if (state === "quarantined") this.#options.quarantine(plugin);
  }

  #entryOf(plugin: Plugin): QuarantineEntry | undefined {
    const record = plugin.circuit.record();
    return (
      record && {
        ...record,
        opens: [...record.opens],
        kills: [...record.kills],
        bundle: this.#digests.get(plugin)!,
        handlers: plugin.registered,
      }
    );
  }

  #mind(plugin: Plugin): void {
    if (plugin.circuit.state === "closed") this.#wary.delete(plugin);
    else this.#wary.add(plugin);
    this.allClosed = this.#wary.size === 0;
  }

  #tell({ id, circuit }: Plugin, state: Circuit["state"] | "released", why: string): void {
    this.#options.events.publish("quarantine", { plugin: id, state, why, ...(circuit.until && { until: circuit.until }) });
  }
}

const CHANGED = "its code has changed";

/** Why a handler is not called. */
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
 * The sandbox died while it executed the plugin's cell, or loaded it. One death while loading may be an accident, or caused by another
 * plugin; after a second one both count. Says whether it got a strike.
 */
export function strikeKilled(plugin: Plugin, why: string, isSure: boolean): boolean {
  const { circuit, isOpening } = plugin;
  if (isOpening) plugin.loadDeaths += 1;
  else circuit.strike("killed", why);
  const isStruck = isSure || plugin.loadDeaths >= LIMITS.blame.breakerLoadKills;
  if (isStruck) for (; plugin.loadDeaths > 0; plugin.loadDeaths--) circuit.strike("killed", why, { atLoad: true });
  return isStruck || !isOpening;
}

const FAULTS: Partial<Record<CallError["code"], StrikeKind | "call">> = {
  ERR_CALL_CPU: "cpu",
  ERR_CALL_MEMORY: "memory",
  // The machine may have been too busy: the lowest strike, which the next good call takes back.
  ERR_CALL_TURN: "failed",
  // The call that ran out of time counts by itself.
  ERR_CALL_TIMEOUT: "call",
};

/** Errors that the handler did not cause: it was not entered, its lane was busy, or its sandbox died; then the supervisor names the culprit. */
const BLAMELESS: ReadonlySet<CallError["code"]> = new Set<CallError["code"]>([
  "ERR_CALL_NOT_LOADED",
  "ERR_CALL_PENDING",
  "ERR_CALL_EVENT_SIZE",
  "ERR_CALL_WEDGED",
  "ERR_CALL_PROCESS_MEMORY",
  "ERR_SANDBOX_STUCK",
]);

function notGood(circuit: Circuit, { status, error }: Call, run: number): void {
  if (!error || BLAMELESS.has(error.code)) return circuit.forgo(run);
  switch (status) {
    case "timeout":
    case "cpu":
    case "memory":
      // The replaced cell counts by itself. Here only the probing call of a half-open circuit matters.
      if (error.code !== "ERR_CALL_TIMEOUT" && !circuit.isTriedBy(run)) return undefined;
      return circuit.strike(status, error.message, { run });
    case "failed":
      return circuit.strike("failed", error.message, { run });
    default:
      return circuit.forgo(run);
  }
}

/** Trusted side: the lanes of a host. Starts the units behind them, and starts them again when they die. */
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { PROTOCOL_VERSION } from "../../protocol/messages.ts";
import type { LaneMessage } from "../../protocol/messages.ts";
import { LaneClient } from "./lane-client.ts";
import type { LaneUnit, StartUnit, SyncPort } from "./unit.ts";

export interface FleetOptions {
  readonly lanes: number;
  /** Lanes per unit: all of them in one process, or one per thread. */
  readonly lanesPerUnit: number;
  readonly startUnit: StartUnit;
  /** What a fresh lane must be told before anything else. */
  greeting(lane: LaneClient): string[];
  message(lane: LaneClient, message: Exclude<LaneMessage, { kind: "ready" }>, bodies: string[]): void;
  /** A unit died and another takes its place. */
  restarted(why: string, lanes: readonly number[]): void;
}

export interface UnitListener {
  /** Thread isolation brings the port for synchronous runs along. */
  came(lane: number, sync: SyncPort | undefined): void;
  went(lane: number): void;
}

/** One place for a unit; the unit in it may change. */
interface Berth {
  readonly lanes: readonly LaneClient[];
  unit: LaneUnit | undefined;
  startedMs: number;
  delayMs: number;
}

export class Fleet {
  readonly lanes: readonly LaneClient[];
  readonly #options: FleetOptions;
  readonly #berths: Berth[] = [];
  readonly #stop = new AbortController();
  /** Lanes that were ready at least once. */
  readonly #ready = new Set<number>();
  readonly #allReady = Promise.withResolvers<void>();
  #lastDeath = "it did not answer";
  #units: UnitListener | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
    const lanes: LaneClient[] = [];
    for (let first = 0; first < options.lanes; first += options.lanesPerUnit) {
      const berth: Berth = { lanes: [], unit: undefined, startedMs: 0, delayMs: 0 };
      for (let index = first; index < Math.min(first + options.lanesPerUnit, options.lanes); index++) {
        const lane: LaneClient = new LaneClient(index, {
          message: (message, bodies) => this.#hear(lane, message, bodies),
          condemned: () => berth.unit?.kill(),
        });
        lanes.push(lane);
        (berth.lanes as LaneClient[]).push(lane);
      }
      this.#berths.push(berth);
    }
    this.lanes = lanes;
  }

  /** Resolves when every lane has said that it is ready; rejects when one does not within the limit. */
  async start(): Promise<void> {
    for (const berth of this.#berths) this.#launch(berth);
    const patience = new AbortController();
    const late = sleep(LIMITS.sandboxStartMs, true, { signal: patience.signal }).catch(() => false);
    const isLate = await Promise.race([this.#allReady.promise.then(() => false), late]);
    patience.abort();
    if (isLate) throw new CreelError("ERR_SANDBOX_START", { detail: this.#lastDeath });
  }

  #hear(lane: LaneClient, message: LaneMessage, bodies: string[]): void {
    if (message.kind !== "ready") return this.#options.message(lane, message, bodies);
    if (message.version !== PROTOCOL_VERSION) throw new RangeError(`protocol version ${message.version}`);
    this.#ready.add(lane.index);
    if (this.#ready.size === this.lanes.length) this.#allReady.resolve();
  }

  /** Tells of every lane that there is and will be, and of its end. */
  onUnit(listener: UnitListener): void {
    this.#units = listener;
    for (const { lanes, unit } of this.#berths)
      if (unit) for (const [at, lane] of lanes.entries()) listener.came(lane.index, unit.syncPorts?.[at]);
  }

  /** Ends the unit a lane is in; another takes its place. */
  condemn(lane: number): void {
    this.#berths.find(({ lanes }) => lanes.some(({ index }) => index === lane))?.unit?.kill();
  }

  /** Process ids of the sandbox, if it has its own. */
  pids(): number[] {
    return this.#berths.flatMap(({ unit }) => unit?.pid ?? []);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#berths.map(async ({ unit }) => unit?.close()));
  }

  #launch(berth: Berth): void {
    const unit = this.#options.startUnit(berth.lanes.length);
    berth.unit = unit;
    berth.startedMs = performance.now();
    for (const [at, lane] of berth.lanes.entries()) {
      lane.connect(unit.links[at]!, this.#options.greeting(lane));
      this.#units?.came(lane.index, unit.syncPorts?.[at]);
    }
    void unit.ended.then((why) => this.#relaunch(berth, unit, why));
  }

  async #relaunch(berth: Berth, unit: LaneUnit, why: string): Promise<void> {
    berth.unit = undefined;
    this.#lastDeath = why;
    for (const lane of berth.lanes) {
      this.#units?.went(lane.index);
      lane.disconnect(why);
    }
    await unit.close();
    if (this.#stop.signal.aborted) return;
    this.#options.restarted(
      why,
      berth.lanes.map((lane) => lane.index),
    );
    const calm = performance.now() - berth.startedMs > LIMITS.restartCalmMs;
    const delay = calm ? 0 : berth.delayMs;
    berth.delayMs = Math.min(Math.max(delay * 2, LIMITS.restartBackoffMs), LIMITS.restartBackoffMaxMs);
    if (delay > 0) await sleep(delay, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
    if (!this.#stop.signal.aborted) this.#launch(berth);
  }
}

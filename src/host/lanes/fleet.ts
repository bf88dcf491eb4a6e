/**
 * Trusted side: the lanes of a host: the quick ones, which share a process, and one slow lane for plugins that have used up a
 * turn, in a process of its own. Starts the units behind them, keeps a spare one warm, and starts them again when they die.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { PROTOCOL_VERSION } from "../../protocol/messages.ts";
import type { LaneMessage } from "../../protocol/messages.ts";
import { Berth } from "./berth.ts";
import { LaneClient } from "./lane-client.ts";
import { Spare } from "./spare.ts";
import type { SyncPort } from "./sync-port.ts";
import type { LaneUnit, StartUnit } from "./unit.ts";

export interface FleetOptions {
  /** Quick lanes; the slow one comes on top. */
  readonly lanes: number;
  /** Lanes per unit: all of them in one process, or one per thread. */
  readonly lanesPerUnit: number;
  readonly startUnit: StartUnit;
  /** Keep a unit warm for when one dies? */
  readonly hasSpare: boolean;
  /** What a unit may take. */
  readonly memoryBytes: number;
  /** What a fresh lane must be told before anything else. */
  greeting(lane: LaneClient): string[];
  message(lane: LaneClient, message: Exclude<LaneMessage, { kind: "ready" }>, bodies: string[]): void;
  /** CPU time that a turn of a cell's own may take; undefined: the cell is not in that lane. */
  cpuMsOf(lane: LaneClient, cell: number, isLoad: boolean): number | undefined;
  /** A unit is gone and another takes its place. `culprit` is the cell that was executing, if that is known. */
  restarted(why: string, lanes: readonly number[], culprit: number | undefined): void;
}

export interface UnitListener {
  came(lane: number, sync: SyncPort | undefined): void;
  went(lane: number): void;
}

export class Fleet {
  readonly lanes: readonly LaneClient[];
  readonly #options: FleetOptions;
  readonly #berths: readonly Berth[];
  readonly #spare: Spare;
  readonly #stop = new AbortController();
  /** Lanes that were ready at least once. */
  readonly #ready = new Set<number>();
  readonly #allReady = Promise.withResolvers<void>();
  #lastDeath = "it did not answer";
  #units: UnitListener | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
    const { lanes, lanesPerUnit, startUnit } = options;
    this.lanes = Array.from({ length: lanes + 1 }, (_, index) => this.#lane(index));
    this.#spare = new Spare(() => startUnit(lanesPerUnit), options.hasSpare);
    const berths: Berth[] = [];
    for (let first = 0; first < lanes; first += lanesPerUnit)
      berths.push(this.#berth(this.lanes.slice(first, Math.min(first + lanesPerUnit, lanes))));
    this.#berths = [...berths, this.#berth([this.slow])];
  }

  /** Where plugins go that have used up a turn, so that nobody quick waits behind them twice. Its unit is started when it is first needed. */
  get slow(): LaneClient {
    return this.lanes.at(-1)!;
  }

  /** A unit takes a while to start: it may do so while there is nothing to tell it yet. */
  warm(): void {
    this.#spare.fill();
  }

  /** Resolves when every quick lane has said that it is ready; rejects when one does not within the limit. */
  async start(): Promise<void> {
    for (const berth of this.#berths.slice(0, -1)) berth.launch();
    const patience = new AbortController();
    const late = sleep(LIMITS.sandboxStartMs, true, { signal: patience.signal }).catch(() => false);
    const isLate = await Promise.race([this.#allReady.promise.then(() => false), late]);
    patience.abort();
    if (isLate) throw new CreelError("ERR_SANDBOX_START", { detail: this.#lastDeath });
  }

  startSlow(): void {
    this.#berths.at(-1)!.launch();
  }

  /** Tells of every lane that there is and will be, and of its end. */
  onUnit(listener: UnitListener): void {
    this.#units = listener;
    for (const { lanes, unit } of this.#berths) if (unit) tellCame(listener, lanes, unit);
  }

  /** Ends the unit a lane is in; another takes its place. */
  condemn(lane: number, why: string): void {
    void this.#berths.find(({ lanes }) => lanes.some(({ index }) => index === lane))?.condemn({ why });
  }

  /** Process ids of the sandbox, if it has its own. The spare is not one of them: no plugin has ever been in it. */
  pids(): number[] {
    return this.#berths.flatMap(({ unit }) => unit?.pid ?? []);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#spare.close(), ...this.#berths.map((berth) => berth.close())]);
  }

  #lane(index: number): LaneClient {
    const lane: LaneClient = new LaneClient(index, {
      message: (message, bodies) => this.#hear(lane, message, bodies),
      condemned: (why) => this.condemn(index, why),
    });
    return lane;
  }

  #berth(lanes: readonly LaneClient[]): Berth {
    const { memoryBytes, lanesPerUnit, startUnit } = this.#options;
    return new Berth({
      lanes,
      memoryBytes,
      greeting: (lane) => this.#options.greeting(lane),
      cpuMsOf: (lane, cell, isLoad) => this.#options.cpuMsOf(lane, cell, isLoad),
      takeUnit: (count) => (count === lanesPerUnit ? this.#spare.take() : startUnit(count)),
      came: (unit) => this.#units && tellCame(this.#units, lanes, unit),
      went: () => {
        for (const { index } of lanes) this.#units?.went(index);
      },
      lost: ({ why, culprit }) => {
        this.#lastDeath = why;
        this.#options.restarted(
          why,
          lanes.map(({ index }) => index),
          culprit?.cell,
        );
      },
    });
  }

  #hear(lane: LaneClient, message: LaneMessage, bodies: string[]): void {
    if (message.kind !== "ready") return this.#options.message(lane, message, bodies);
    if (message.version !== PROTOCOL_VERSION) throw new RangeError(`protocol version ${message.version}`);
    this.#ready.add(lane.index);
    if (this.lanes.every(({ index }) => index === this.slow.index || this.#ready.has(index))) this.#allReady.resolve();
  }
}

function tellCame(listener: UnitListener, lanes: readonly LaneClient[], unit: LaneUnit): void {
  for (const [at, { index }] of lanes.entries()) listener.came(index, unit.syncPorts?.[at]);
}

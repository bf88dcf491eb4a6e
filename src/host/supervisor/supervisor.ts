/**
 * Trusted side: the lanes of a host. Ordinary lanes share a process; plugins that have used up a turn move to the slow
 * lane, which has its own process. The supervisor starts the units behind the lanes, keeps a spare one warm, and replaces
 * units that are lost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { PROTOCOL_VERSION } from "../../protocol/messages/host-lane.ts";
import type { ProcessStats } from "../../protocol/live-report.ts";
import type { LaneMessage } from "../../protocol/messages/host-lane.ts";
import { UnitSlot } from "./unit-slot.ts";
import { LaneClient } from "./lane-client.ts";
import { Spare } from "./spare.ts";
import type { SyncPort } from "./sync/sync-port.ts";
import type { LaneUnit, StartUnit } from "./unit.ts";

export interface SupervisorOptions {
  /** Ordinary lanes. The slow lane comes on top. */
  readonly lanes: number;
  /** All lanes in one process, or one lane per thread. */
  readonly lanesPerUnit: number;
  readonly startUnit: StartUnit;
  /** Has a plugin that is inspected a lane and a unit of its own, between the ordinary lanes and the slow one? */
  readonly hasDebugLane?: boolean;
  /** Keep a unit warm to replace one that is lost? */
  readonly hasSpare: boolean;
  /** Memory limit of a unit. */
  readonly memoryBytes: number;
  /** The first messages to a fresh lane. */
  greeting(lane: LaneClient): string[];
  message(lane: LaneClient, message: Exclude<LaneMessage, { kind: "ready" }>, bodies: string[]): void;
  /** CPU budget of a turn that belongs to no run; undefined: the cell is not in that lane. */
  cpuMsOf(lane: LaneClient, cell: number, isLoad: boolean): number | undefined;
  /**
   * A unit is lost and will be replaced. `culprit` is the cell that was executing, if that is known. `isCrash`: it died by itself, while no turn
   * was seen to last. `input`: of the run that the culprit executed, if that is known.
   */
  restarted(why: string, lanes: readonly number[], culprit: number | undefined, isCrash: boolean, input: object | undefined): void;
}

export interface UnitListener {
  came(lane: number, sync: SyncPort | undefined): void;
  went(lane: number): void;
}

export class Supervisor {
  readonly lanes: readonly LaneClient[];
  readonly #options: SupervisorOptions;
  readonly #slots: readonly UnitSlot[];
  readonly #spare: Spare;
  readonly #stop = new AbortController();
  /** Lanes that were ready at least once. */
  readonly #ready = new Set<number>();
  readonly #allReady = Promise.withResolvers<void>();
  #lastLoss = "the sandbox did not answer";
  #units: UnitListener | undefined;
  /** Whether the units keep the gateway's process alive. */
  #isHeld = true;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { lanes, lanesPerUnit, startUnit, hasDebugLane = false } = options;
    const debugLane = hasDebugLane ? lanes : undefined;
    this.lanes = Array.from({ length: lanes + (hasDebugLane ? 2 : 1) }, (_, index) => this.#lane(index, index === debugLane));
    this.#spare = new Spare(() => this.#held(startUnit(lanesPerUnit)), options.hasSpare);
    const slots: UnitSlot[] = [];
    for (let first = 0; first < lanes; first += lanesPerUnit)
      slots.push(this.#slot(this.lanes.slice(first, Math.min(first + lanesPerUnit, lanes))));
    if (debugLane !== undefined) slots.push(this.#slot([this.lanes[debugLane]!]));
    this.#slots = [...slots, this.#slot([this.slow])];
  }

  /**
   * For plugins that have used up a turn, so that other plugins wait behind them only once. Its unit is started when it
   * is first needed.
   */
  get slow(): LaneClient {
    return this.lanes.at(-1)!;
  }

  /** Starts a unit ahead of time, while the host still loads plugins. */
  warm(): void {
    this.#spare.fill();
  }

  /** Resolves when every ordinary lane is ready, or the supervisor is closed; rejects when one is not within the limit. */
  async start(): Promise<void> {
    for (const slot of this.#slots.slice(0, -1)) slot.launch();
    const waiting = new AbortController();
    // A supervisor that is closed meanwhile, since a plugin or the lock is wrong, must not keep the process.
    const signal = AbortSignal.any([waiting.signal, this.#stop.signal]);
    const late = sleep(LIMITS.sandbox.startMs, true, { signal }).catch(() => false);
    const isLate = await Promise.race([this.#allReady.promise.then(() => false), late]);
    waiting.abort();
    if (isLate) throw new CreelError("ERR_SANDBOX_START", { detail: this.#lastLoss });
  }

  startSlow(): void {
    this.#slots.at(-1)!.launch();
  }

  /** Tells the listener of every unit that is there or will come, and of its end, lane by lane. */
  onUnit(listener: UnitListener): void {
    this.#units = listener;
    for (const { lanes, unit } of this.#slots) if (unit) tellCame(listener, lanes, unit);
  }

  /** Ends the unit of a lane, and starts another. */
  replace(lane: number, why: string): void {
    void this.#slotOf(lane)?.replace({ why });
  }

  #slotOf(lane: number): UnitSlot | undefined {
    return this.#slots.find(({ lanes }) => lanes.some(({ index }) => index === lane));
  }

  /** The runs that are in the lanes, or wait to be sent to them. */
  inputs(): object[] {
    return this.lanes.flatMap((lane) => lane.inputs());
  }

  /** Process ids of the sandbox, if it has processes. Without the spare, in which no plugin has run. */
  pids(): number[] {
    return this.#slots.flatMap(({ unit }) => unit?.pid ?? []);
  }

  /** The sandbox's processes with their memory, the spare as well. */
  processes(): ProcessStats[] {
    const spare = this.#spare.unit;
    return [...this.#slots.flatMap(({ lanes, unit }) => processOf("sandbox", unit, lanes)), ...processOf("spare", spare, [])];
  }

  /** For the units that are there, and for those that come. */
  setRef(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#spare.unit?.setRef?.(isHeld);
    for (const { unit } of this.#slots) unit?.setRef?.(isHeld);
  }

  #held(unit: LaneUnit): LaneUnit {
    if (!this.#isHeld) unit.setRef?.(false);
    return unit;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#spare.close(), ...this.#slots.map((slot) => slot.close())]);
  }

  #lane(index: number, isDebug: boolean): LaneClient {
    const lane: LaneClient = new LaneClient(
      index,
      {
        message: (message, bodies) => this.#receive(lane, message, bodies),
        isInTurn: (withinMs) => this.#slotOf(index)?.isInTurn(lane, withinMs) ?? false,
        replace: (why) => this.replace(index, why),
        ended: (why, isBroken) => this.#slotOf(index)?.linkEnded(why, isBroken),
      },
      isDebug,
    );
    return lane;
  }

  #slot(lanes: readonly LaneClient[]): UnitSlot {
    const { memoryBytes, lanesPerUnit, startUnit } = this.#options;
    return new UnitSlot({
      lanes,
      memoryBytes,
      greeting: (lane) => this.#options.greeting(lane),
      cpuMsOf: (lane, cell, isLoad) => this.#options.cpuMsOf(lane, cell, isLoad),
      takeUnit: (count) => (count === lanesPerUnit ? this.#spare.take() : this.#held(startUnit(count))),
      came: (unit) => this.#units && tellCame(this.#units, lanes, unit),
      went: () => {
        for (const { index } of lanes) this.#units?.went(index);
      },
      lost: ({ why, culprit, isCrash = false }, input) => {
        this.#lastLoss = why;
        this.#options.restarted(
          why,
          lanes.map(({ index }) => index),
          culprit?.cell,
          isCrash,
          input,
        );
      },
    });
  }

  #receive(lane: LaneClient, message: LaneMessage, bodies: string[]): void {
    if (message.kind === "opened" && message.ok) this.#spare.need();
    if (message.kind !== "ready") return this.#options.message(lane, message, bodies);
    if (message.version !== PROTOCOL_VERSION) throw new RangeError(`protocol version ${message.version}`);
    this.#ready.add(lane.index);
    if (this.lanes.every(({ index }) => index === this.slow.index || this.#ready.has(index))) this.#allReady.resolve();
  }
}

function processOf(kind: ProcessStats["kind"], unit: LaneUnit | undefined, lanes: readonly LaneClient[]): ProcessStats[] {
  if (unit?.pid === undefined) return [];
  return [{ kind, pid: unit.pid, rssBytes: unit.rssBytes?.() ?? 0, lanes: lanes.map(({ index }) => index) }];
}

function tellCame(listener: UnitListener, lanes: readonly LaneClient[], unit: LaneUnit): void {
  for (const [at, { index }] of lanes.entries()) listener.came(index, unit.syncPorts?.[at]);
}

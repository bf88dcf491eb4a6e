/**
 * Trusted side: handles the messages that lanes send unasked: cells that loaded or were replaced, log lines, requests
 * of plugins, CPU time.
 */
import type { ErrorCode } from "../../protocol/errors.ts";
import { fitsBytes } from "../../transport/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { RecordedChain } from "../../protocol/live-report.ts";
import type { LaneMessage } from "../../protocol/messages/host-lane.ts";
import { strikeFault } from "../blame/breaker.ts";
import type { Inspector } from "../inspect/inspector.ts";
import type { ManualClock } from "../manual-clock.ts";
import type { HostEvents } from "../report/events.ts";
import type { Measurements } from "../report/measurements.ts";
import { guestError } from "../run/guest-error.ts";
import { oneLine } from "../../text/one-line.ts";
import { LogGate } from "../report/log-gate.ts";
import type { LaneClient } from "./lane-client.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { Services } from "../services/services.ts";
import type { Volumes } from "../services/files/volumes.ts";

/** A cell that was rebuilt for one of these has held up its neighbours in the lane. */
const COSTLY: ReadonlySet<string> = new Set<ErrorCode>(["ERR_CALL_CPU", "ERR_CALL_MEMORY"]);

/** Messages that are only a header. */
const BODILESS: ReadonlySet<LaneMessage["kind"]> = new Set<LaneMessage["kind"]>(["spent", "volume", "inspectable"]);

type LogLine = Extract<LaneMessage, { kind: "log" }>;

/** How often a cell may request its volume before the first response. */
const VOLUMES_AT_ONCE = 4;
/** Room for the header of a frame. */
const FRAME_ROOM = 64 * 1024;

export interface LaneMessagesOptions {
  readonly host: string;
  readonly plugins: Plugins;
  readonly events: HostEvents;
  readonly services: Services;
  readonly volumes: Volumes;
  readonly measurements: Measurements;
  /** Of what a plugin does in, or because of, a run, by the run's number. Undefined: 0, or it is forgotten. */
  readonly chainOf: (plugin: Plugin, run: number) => RecordedChain | undefined;
  /** Undefined: no plugin is inspected. */
  readonly inspector: Inspector | undefined;
  /** Undefined: time is real. */
  readonly clock: ManualClock | undefined;
}

export class LaneMessages {
  readonly #options: LaneMessagesOptions;
  readonly #gate = new LogGate();
  /** How many requests for its volume each cell waits for. */
  readonly #volumeRequests = new Map<number, number>();

  constructor(options: LaneMessagesOptions) {
    this.#options = options;
  }

  /** The schema has passed the message. Whether the cell is in that lane is checked here. */
  receive(lane: LaneClient, message: Exclude<LaneMessage, { kind: "ready" }>, bodies: string[]): void {
    if (message.kind === "clock") return this.#clock().said(lane.index, message.nextMs);
    const plugin = this.#options.plugins.cells.at(message.cell, lane)?.plugin;
    const body = bodies[0] ?? "";
    if (bodies.length === 0 && !BODILESS.has(message.kind)) throw new RangeError("a message without its body");
    // A late message of a cell that was dropped.
    if (!plugin) return;
    switch (message.kind) {
      case "opened":
        // A plugin that failed to load has no cell.
        if (!message.ok) this.#options.services.left(plugin, message.cell);
        this.#measured(plugin, message);
        return this.#options.plugins.opened(plugin, message, body);
      case "log":
        return this.#log(plugin, message, body);
      case "request":
        return this.#answer(lane, plugin, message, body, bodies[1]);
      case "spent":
        return this.#spent(plugin, message);
      case "volume":
        return this.#sendVolume(lane, plugin, message.cell);
      case "inspectable":
        return this.#inspector(lane).inspectable(lane, plugin, message.cell);
      case "cdp":
        return this.#inspector(lane).message(message.cell, body);
      case "fault": {
        const why = plugin.gatewayTime.measure(() => guestError(body, plugin.bundle));
        plugin.replacements += 1;
        this.#options.services.left(plugin, message.cell);
        return this.#options.events.within(this.#options.chainOf(plugin, message.run ?? 0), () => {
          this.#options.events.publish("replaced", { plugin: plugin.id, why: why.message, code: why.code });
          strikeFault(plugin, why);
          if (COSTLY.has(why.code)) this.#options.plugins.slowDown(plugin, why.message);
        });
      }
    }
  }

  /** SECURITY: only the lane of the inspected plugin may speak to a debugger. test/host/inspect/inspector.test.ts */
  #inspector({ isDebug }: LaneClient): Inspector {
    const { inspector } = this.#options;
    if (!inspector || !isDebug) throw new RangeError("a debugger message of a cell that is not inspected");
    return inspector;
  }

  #clock(): ManualClock {
    const { clock } = this.#options;
    if (!clock) throw new RangeError("a time that the host did not ask for");
    return clock;
  }

  #log(plugin: Plugin, { level, run }: LogLine, body: string): void {
    const admitted = this.#gate.admit(plugin.id);
    if (!admitted) this.#options.measurements.plugin(plugin.id).droppedLogLines += 1;
    else plugin.gatewayTime.measure(() => this.#publishLine(plugin, level, run, body, admitted === "last"));
  }

  #publishLine(plugin: Plugin, level: LogLine["level"], run: number | undefined, body: string, isLast: boolean): void {
    const runId = run ? `${this.#options.host}-${run}` : undefined;
    const { events } = this.#options;
    const line = { plugin: plugin.id, level, text: oneLine(body, LIMITS.log.bytes), runId };
    events.within(this.#options.chainOf(plugin, run ?? 0), () => events.publish("log", line));
    if (!isLast) return;
    const text = `further log lines are dropped for a while: the limit is ${LIMITS.log.linesPerWindow} lines in ${LIMITS.log.windowMs / 1000} s`;
    events.publish("log", { plugin: plugin.id, level: "warn", text, runId: undefined });
  }

  #measured(plugin: Plugin, { cell, heapBytes }: { readonly cell: number; readonly heapBytes?: number | undefined }): void {
    if (heapBytes !== undefined && cell === plugin.home?.cell) this.#options.measurements.plugin(plugin.id).heapBytes = heapBytes;
  }

  #spent(plugin: Plugin, message: Extract<LaneMessage, { kind: "spent" }>): void {
    const { cell, us, heldUs, ownUs } = message;
    this.#measured(plugin, message);
    const share = plugin.cpuShare.charge(us);
    if (share > plugin.budget.cpuShare.value) this.#options.plugins.overspent(plugin, share);
    // A cell that it has left is about to go.
    if (heldUs > 0 && cell === plugin.home?.cell) this.#options.plugins.held(plugin, heldUs, ownUs);
  }

  /** A cell waits for its volume. */
  #sendVolume(lane: LaneClient, plugin: Plugin, cell: number): void {
    // A cell that has to be rebuilt while it waits requests its volume again.
    const asked = this.#volumeRequests.get(cell) ?? 0;
    if (asked >= VOLUMES_AT_ONCE) throw new RangeError("a cell that keeps requesting its volume");
    this.#volumeRequests.set(cell, asked + 1);
    const { generation } = lane;
    const answer = (ok: boolean, text: string): void => {
      if (asked === 0) this.#volumeRequests.delete(cell);
      if (lane.generation !== generation || !lane.isConnected) return;
      if (fitsBytes(text, LIMITS.frames.bytes - FRAME_ROOM)) return lane.post({ kind: "volume", cell, ok }, text);
      const message = `the volume takes more than ${LIMITS.frames.bytes - FRAME_ROOM} bytes`;
      lane.post({ kind: "volume", cell, ok: false }, JSON.stringify({ code: "ERR_SERVICE_SIZE", message }));
    };
    // Changes that the previous cell made may still wait to be written.
    const written = plugin.gatewayTime.isOver ? plugin.gatewayTime.turn(0, true) : Promise.resolve(true);
    written
      .then(() => this.#options.volumes.contents(plugin))
      .then(
        (text) => answer(true, text),
        (error: Error & { code?: string }) => answer(false, JSON.stringify({ code: error.code, message: oneLine(error.message) })),
      );
  }

  /** A plugin calls a service. The response goes to the cell that sent the request, if it still exists. */
  #answer(
    lane: LaneClient,
    plugin: Plugin,
    { cell, request, run }: Extract<LaneMessage, { kind: "request" }>,
    service: string,
    args: string | undefined,
  ): void {
    if (args === undefined) throw new RangeError("a request without arguments");
    const { generation } = lane;
    void this.#options.services.request(plugin, cell, run, service, args).then(({ ok, text }) => {
      // A new unit would take it for the response to a request with the same number.
      if (lane.generation === generation && lane.isConnected) lane.post({ kind: "response", cell, request, ok }, text);
    });
  }
}

/** Trusted side: what lanes say of their own accord: cells that loaded or were replaced, log lines, questions, costs. */
import type { ErrorCode } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { LaneMessage } from "../protocol/messages.ts";
import { strikeFault } from "./breaker.ts";
import type { HostEvents } from "./events.ts";
import { guestError, oneLine } from "./guest-error.ts";
import { LogGate } from "./log-gate.ts";
import type { LaneClient } from "./lanes/lane-client.ts";
import type { Plugin } from "./plugin.ts";
import type { Plugins } from "./plugins.ts";
import type { Services } from "./services/services.ts";
import type { Volumes } from "./volume/volumes.ts";

/** A cell that was rebuilt for one of these has kept its lane from its neighbours. */
const COSTLY: ReadonlySet<string> = new Set<ErrorCode>(["ERR_CALL_CPU", "ERR_CALL_MEMORY"]);

export interface HearingOptions {
  readonly host: string;
  readonly plugins: Plugins;
  readonly events: HostEvents;
  readonly services: Services;
  readonly volumes: Volumes;
}

export class Hearing {
  readonly #options: HearingOptions;
  readonly #gate = new LogGate();

  constructor(options: HearingOptions) {
    this.#options = options;
  }

  /** Everything a lane says of its own accord. Its schema has passed it; whether the cell is the lane's is checked here. */
  hear(lane: LaneClient, message: Exclude<LaneMessage, { kind: "ready" }>, bodies: string[]): void {
    const plugin = this.#options.plugins.cells.at(message.cell, lane)?.plugin;
    const body = bodies[0] ?? "";
    if (bodies.length === 0 && message.kind !== "spent" && message.kind !== "volume") throw new RangeError("a message without its body");
    // The last words of a cell that was dropped.
    if (!plugin) return;
    switch (message.kind) {
      case "opened":
        // What did not load has no cell any more.
        if (!message.ok) this.#options.services.left(plugin, message.cell);
        return this.#options.plugins.opened(plugin, message, body);
      case "log":
        return this.#log(plugin, message, body);
      case "ask":
        return this.#answer(lane, plugin, message, body, bodies[1]);
      case "spent":
        return this.#spent(plugin, message.us);
      case "volume":
        return this.#furnish(lane, plugin, message.cell);
      case "fault": {
        const why = guestError(body, plugin.bundle);
        plugin.replacements += 1;
        this.#options.services.left(plugin, message.cell);
        this.#options.events.publish("replaced", { plugin: plugin.id, why: why.message });
        strikeFault(plugin, why);
        if (COSTLY.has(why.code)) this.#options.plugins.slowDown(plugin);
      }
    }
  }

  #log(plugin: Plugin, { level, run }: Extract<LaneMessage, { kind: "log" }>, body: string): void {
    const admitted = this.#gate.admit(plugin.id);
    if (!admitted) return;
    const runId = run ? `${this.#options.host}-${run}` : undefined;
    this.#options.events.publish("log", { plugin: plugin.id, level, text: oneLine(body, LIMITS.logBytes), runId });
    if (admitted !== "last") return;
    const text = `further log lines are dropped for a while: ${LIMITS.logLinesPerWindow} in ${LIMITS.logWindowMs / 1000} s are enough`;
    this.#options.events.publish("log", { plugin: plugin.id, level: "warn", text, runId: undefined });
  }

  #spent(plugin: Plugin, us: number): void {
    const share = plugin.cpuShare.charge(us);
    if (share > plugin.budget.cpuShare.value) this.#options.plugins.overspent(plugin, share);
  }

  /** A cell is waiting for its volume. */
  #furnish(lane: LaneClient, plugin: Plugin, cell: number): void {
    const { generation } = lane;
    const answer = (ok: boolean, text: string): void => {
      if (lane.generation === generation && lane.isConnected) lane.post({ kind: "volume", cell, ok }, text);
    };
    this.#options.volumes.contents(plugin).then(
      (text) => answer(true, text),
      (error: Error & { code?: string }) => answer(false, JSON.stringify({ code: error.code, message: oneLine(error.message) })),
    );
  }

  /** A plugin wants something of us. The answer goes where the question came from, if that is still there. */
  #answer(
    lane: LaneClient,
    plugin: Plugin,
    { cell, ask, run }: Extract<LaneMessage, { kind: "ask" }>,
    service: string,
    args: string | undefined,
  ): void {
    if (args === undefined) throw new RangeError("a question without arguments");
    const { generation } = lane;
    void this.#options.services.ask(plugin, cell, run, service, args).then(({ ok, text }) => {
      // Another thread or process would take it for the answer to a question of its own.
      if (lane.generation === generation && lane.isConnected) lane.post({ kind: "tell", cell, ask, ok }, text);
    });
  }
}

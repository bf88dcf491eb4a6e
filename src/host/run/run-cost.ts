/**
 * Trusted side: what a run costs the gateway's thread when plugins make it expensive: by long results, by many of them,
 * or by results that send it back and forth. Reading, merging, writing and sending are charged to the plugin that
 * causes most of it, and not to the plugins behind it, which only see what it left. Made for such runs only.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { CallError } from "../../protocol/outcome.ts";
import type { Plugin } from "../plugins/plugin.ts";
import { ownError } from "./guest-error.ts";

export class RunCost {
  /** Characters of each plugin's results. */
  readonly #chars = new Map<Plugin, number>();
  /** The same, and characters of the event that was sent again because of the plugin. */
  readonly #caused = new Map<Plugin, number>();
  #payer: Plugin;

  constructor(plugin: Plugin) {
    this.#payer = plugin;
  }

  /** A plugin's result of this length comes next. Gives why it is not read, if it is not. SECURITY: test/host/run/walk.test.ts */
  takes(plugin: Plugin, chars: number): CallError | undefined {
    if (chars === 0) return undefined;
    const { bytesOut, gatewayMs } = plugin.budget;
    const sum = (this.#chars.get(plugin) ?? 0) + chars;
    const limit = LIMITS.call.resultsOfRun * bytesOut.value;
    if (sum > limit) return ownError("ERR_CALL_RESULTS_SIZE", { limit });
    this.#chars.set(plugin, sum);
    this.causes(plugin, chars);
    if (this.#payer !== plugin || !plugin.gatewayTime.isExhausted) return undefined;
    plugin.gatewayTime.refused();
    return ownError("ERR_CALL_RESULT_TIME", { limit: gatewayMs.value });
  }

  causes(plugin: Plugin, chars: number): void {
    const sum = (this.#caused.get(plugin) ?? 0) + chars;
    this.#caused.set(plugin, sum);
    if (sum > (this.#caused.get(this.#payer) ?? 0)) this.#payer = plugin;
  }

  /** The plugin that pays. */
  get payer(): string {
    return this.#payer.id;
  }

  measure<T>(work: () => T): T {
    return this.#payer.gatewayTime.measure(work);
  }

  /** The event is sent to a lane again. */
  sent(chars: number): void {
    this.#payer.gatewayTime.carried(chars);
  }
}

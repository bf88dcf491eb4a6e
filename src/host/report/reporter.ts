/**
 * Trusted side: reports a run when it has ended: failures and ignored fields to the log, facts to their subscribers, news to the audit
 * log, its numbers to the measurements, and the run itself to the history.
 */
import type { HookTable } from "../../protocol/catalog.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { Audit } from "../audit/audit.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Recorder } from "../record/recorder.ts";
import type { HostEvents } from "./events.ts";
import type { Logger } from "./log.ts";
import type { Plugins } from "../plugins/plugins.ts";
import { noteIgnored } from "../plugins/diagnostics.ts";
import type { RunInput } from "../run/run-input.ts";
import type { Measurements } from "./measurements.ts";
import { recordedCalls } from "./run-calls.ts";
import type { RunHistory } from "./run-history.ts";
import { chainOf } from "../causality/recorded-chain.ts";

export interface ReporterOptions {
  readonly events: HostEvents;
  readonly plugins: Plugins;
  readonly hooks: HookTable;
  readonly logger: Logger;
  /** Undefined: the host has no state folder, or the audit log is off. */
  readonly audit: Audit | undefined;
  readonly measurements: Measurements;
  readonly history: RunHistory;
  /** See InnerOptions; undefined: always on. */
  readonly recording: { readonly isOn: boolean } | undefined;
  /** Undefined: nothing is recorded. */
  readonly recorder: Recorder | undefined;
  /** Undefined: the gateway wants no traces. */
  readonly tracing: Tracing | undefined;
}

export class Reporter {
  readonly #options: ReporterOptions;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  begun(input: RunInput): void {
    const { events, tracing } = this.#options;
    tracing?.begun(input);
    if (!events.wants("begun")) return;
    const { runId, hook, plan, activateMs, chain } = input;
    const plugins = plan.map(({ plugin }) => plugin.id);
    events.publish("begun", { runId, hook: hook.name, plugins, activateMs, chain: chainOf(chain) });
  }

  /** The gateway gave it up. */
  aborted(input: RunInput): void {
    const { events, history, measurements, tracing } = this.#options;
    const { runId, hook, chain, startedMs } = input;
    const endedMs = performance.now();
    measurements.aborted(hook.name);
    tracing?.aborted(input, endedMs);
    const seq = events.number();
    history.ended(seq, input, undefined, endedMs);
    events.publish("aborted", { runId, hook: hook.name, wallMs: endedMs - startedMs, chain: chainOf(chain) }, seq);
  }

  report(outcome: Outcome, input: RunInput): void {
    const { events, plugins, hooks, logger, audit, measurements, history, recorder, tracing } = this.#options;
    const isRecorded = this.#options.recording?.isOn ?? true;
    const endedMs = isRecorded ? performance.now() : 0;
    const { runId } = outcome;
    let isNews = outcome.decision !== "pass" || outcome.approval !== undefined;
    const { calls } = outcome;
    for (let at = 0; at < calls.length; at++) {
      const call = calls[at]!;
      if (isRecorded) input.plan[at]!.callCount.add(call, runId, endedMs);
      if (call.error) {
        const { absent, failure } = input.plan[at]!;
        // A plugin that decides nothing and that every run lists is not news.
        isNews ||= !absent || failure !== "open";
        // The log has said that the plugin is in quarantine, or did not load.
        logger[call.status === "quarantined" || absent ? "debug" : "warn"](
          {
            plugin: call.plugin,
            hook: outcome.hook,
            runId: outcome.runId,
            status: call.status,
            code: call.error.code,
            at: call.error.at,
            error: call.error.message,
          },
          "a handler failed",
        );
      }
      // The plugin may have been uninstalled meanwhile.
      const plugin = call.ignored && plugins.find(call.plugin);
      if (plugin && call.ignored)
        for (const diagnostic of noteIgnored(plugin.diagnostics, hooks[outcome.hook]!, call.ignored))
          logger.warn({ plugin: call.plugin, hook: outcome.hook, diagnostic }, "a result field was ignored");
    }
    if (isNews || audit?.isWhole) audit?.run(input, outcome);
    recorder?.run(input, outcome);
    if (!isRecorded) return;
    tracing?.ended(input, outcome, endedMs);
    const wallMs = endedMs - input.startedMs;
    measurements.run(outcome, wallMs, endedMs);
    if (events.wants("call")) this.#publishCalls(outcome, input, endedMs);
    const seq = events.number();
    history.ended(seq, input, outcome, endedMs);
    if (events.wants("run")) events.publish("run", { outcome, wallMs, activateMs: input.activateMs, chain: chainOf(input.chain) }, seq);
  }

  #publishCalls({ runId, hook, calls }: Outcome, input: RunInput, endedMs: number): void {
    const chain = chainOf(input.chain);
    for (const call of recordedCalls(input, calls, endedMs)) this.#options.events.publish("call", { runId, hook, call, chain });
  }
}

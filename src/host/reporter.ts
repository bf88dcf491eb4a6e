/** Trusted side: what is said of a run when it is over: its failures and oddities to the log, its facts to whoever subscribed. */
import type { HookTable } from "../protocol/catalog.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { Audit } from "./audit/audit.ts";
import type { HostEvents } from "./events.ts";
import type { Logger } from "./log.ts";
import type { Plugins } from "./plugins.ts";
import { remarkIgnored } from "./remarks.ts";
import type { RunInput } from "./runner/run-input.ts";

export interface ReporterOptions {
  readonly events: HostEvents;
  readonly plugins: Plugins;
  readonly hooks: HookTable;
  readonly logger: Logger;
  /** Undefined: there is nowhere to write it. */
  readonly audit: Audit | undefined;
}

export class Reporter {
  readonly #options: ReporterOptions;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  report(outcome: Outcome, startedMs: number, input: RunInput): void {
    const { events, plugins, hooks, logger, audit } = this.#options;
    let isNews = outcome.decision !== "pass" || outcome.approval !== undefined;
    for (const call of outcome.calls) {
      if (call.error) {
        isNews = true;
        // That a plugin is in quarantine was said when it came there.
        logger[call.status === "quarantined" ? "debug" : "warn"](
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
      // It may have been uninstalled meanwhile.
      const plugin = call.ignored && plugins.find(call.plugin);
      if (plugin && call.ignored)
        for (const diagnostic of remarkIgnored(plugin, hooks[outcome.hook]!, call.ignored))
          logger.warn({ plugin: call.plugin, hook: outcome.hook, diagnostic }, "a result field was ignored");
      if (events.wants("call")) events.publish("call", { runId: outcome.runId, hook: outcome.hook, call });
    }
    if (isNews) audit?.run(input, outcome);
    if (events.wants("run")) events.publish("run", { outcome, wallMs: performance.now() - startedMs });
  }
}

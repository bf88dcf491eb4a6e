/**
 * Trusted side: what a run means while the host in the other process cannot be reached. A rejection would be an allow in every gateway
 * that logs and goes on, so the failure policy of the hook decides instead, as if the handlers had failed. The policy is what the host
 * said last; it holds while the host is away.
 */
import { CATALOG } from "../../protocol/catalog.ts";
import type { AnyHook, HookTable } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { failurePolicy } from "../../protocol/rules/failure-policy.ts";
import type { FailurePolicy } from "../../protocol/rules/failure-policy.ts";
import type { SyncRunOptions } from "../../host/host-api.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import type { Logger } from "../../host/report/log.ts";
import { closedBy } from "../../host/run/unserved.ts";
import { FailureLog } from "../../host/storage/failure-log.ts";

/** SECURITY: only the caller's own mistakes reject; whatever else goes wrong is a host that did not judge. test/serve/away.test.ts */
const MISTAKES: ReadonlySet<ErrorCode> = new Set([
  "ERR_HOOK_UNKNOWN",
  "ERR_HOOK_KIND",
  "ERR_EVENT_INVALID",
  "ERR_EVENT_NOT_JSON",
  "ERR_EVENT_SIZE",
  "ERR_CONTEXT_INVALID",
]);

export function isMistake(error: unknown): boolean {
  return error instanceof CreelError && MISTAKES.has(error.code);
}

/** The part of the host's last state that the policy follows from. */
export interface LastKnown {
  readonly id: string;
  /** Hooks that plugins listen to. */
  readonly hooks: readonly string[];
  readonly plugins: readonly PluginReport[];
}

export class Away {
  readonly #lines: FailureLog;
  #runs = 0;

  constructor(logger: Logger) {
    this.#lines = new FailureLog((error, more) =>
      logger.error({ ...(error as object), ...more }, "the host is away: the failure policies of hooks decide"),
    );
  }

  /** The outcome of a run that the host did not judge. */
  outcome(name: string, why: string, known: LastKnown, options: SyncRunOptions = {}): Outcome {
    const hook = (CATALOG as HookTable)[name];
    const runId = `${known.id}-away-${++this.#runs}`;
    const passes = { runId, hook: name, decision: "pass", result: undefined, by: undefined, reason: undefined, calls: [] } as const;
    const policy = hook ? policyOf(hook, known, options.plugin) : "closed";
    const reason = `${name} was not judged: ${why}`;
    this.#lines.failed({ hook: name, policy, detail: why });
    if (policy === "open") return { ...passes, unreachable: { why } };
    // A hook that only a newer host knows has no terminal field here: the decision blocks.
    const closed = hook ? closedBy(hook, options.plugin, reason) : { decision: "block" as const, reason };
    return { ...passes, ...closed, unreachable: { why } };
  }
}

function policyOf(hook: AnyHook, { hooks, plugins }: LastKnown, plugin: string | undefined): FailurePolicy {
  const asked = plugin === undefined ? plugins : plugins.filter(({ id }) => id === plugin);
  const policies = asked.flatMap(({ hooks: own }) => own.flatMap(({ hook: name, failure }) => (name === hook.name ? failure : [])));
  // A required plugin that does not serve and whose hooks are not known blocks every hook.
  if (asked.some(({ isRequired, hooks: own }) => isRequired && own.length === 0)) return failurePolicy(hook, true);
  if (policies.length > 0) return policies.includes("closed") ? "closed" : "open";
  // No plugin listens: it passes as it does in this process. A run for one plugin that is not there does not.
  return plugin === undefined && !hooks.includes(hook.name) ? "open" : failurePolicy(hook, false);
}

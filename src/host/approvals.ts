/**
 * Trusted side: asks the user, through the gateway, when a plugin wants a tool call approved. The question carries the
 * parameters as they were when it was asked; nothing but an allowing answer in time lets the call run. The plugin's
 * `onResolution` is told exactly once how it ended.
 */
import pTimeout from "p-timeout";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { ApprovalRequest, ApprovalResolution } from "../protocol/hooks/tool.ts";
import type { Fields } from "../protocol/merge.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { Logger } from "./log.ts";
import type { Handler } from "./registry.ts";
import type { RunInput } from "./runner/run-input.ts";

export interface ApprovalQuestion extends Omit<ApprovalRequest, "onResolution"> {
  readonly pluginId: string;
  readonly hook: string;
  readonly runId: string;
  readonly toolName: string | undefined;
  readonly agentId: string | undefined;
  readonly sessionKey: string | undefined;
  readonly params: Fields;
  readonly timeoutMs: number;
}

export type ApprovalDecision = "allow-once" | "allow-always" | "deny";

/** The gateway's own way to ask. Null: nobody answered. Undefined: there is nobody to ask. */
export type RequestApproval = (
  question: ApprovalQuestion,
  options: { readonly signal: AbortSignal },
) => Promise<ApprovalDecision | null | undefined>;

/** A user's "always", per plugin, tool and agent. */
export interface RememberedApproval {
  readonly pluginId: string;
  readonly toolName: string;
  readonly agentId: string | undefined;
}

export type AskingOutcome = Outcome<Fields & { requireApproval: ApprovalRequest }> & { readonly result: {} };

/** A block wins over the question: then nobody is asked. */
export function needsApproval(outcome: Outcome): outcome is AskingOutcome {
  return outcome.decision === "pass" && (outcome.result as { requireApproval?: unknown } | undefined)?.requireApproval !== undefined;
}

/** Calls a function that was handed out of a cell. False: that cell is gone, and the function with it. */
export type WayBack = (handle: number, cause: number, argument: ApprovalResolution) => boolean;

export interface ApprovalsOptions {
  readonly ask: RequestApproval | undefined;
  readonly allowOnTimeout: boolean;
  readonly logger: Logger;
  /** The way back into the cell that a handler is called in. */
  wayBack(handler: Handler): WayBack;
}

interface Settled {
  readonly resolution: ApprovalResolution;
  /** Why the call does not run; undefined: it does. */
  readonly blocked: string | undefined;
}

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #always = new Map<string, RememberedApproval>();
  /** What is being asked, and whoever waits for it. */
  readonly #asking = new Map<AbortController, Promise<unknown>>();
  #isClosed = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  remembered(): RememberedApproval[] {
    return [...this.#always.values()];
  }

  revoke(approval: RememberedApproval): boolean {
    return this.#always.delete(keyOf(approval));
  }

  /** Rejects only when the signal is aborted. */
  settle(outcome: AskingOutcome, input: RunInput, signal?: AbortSignal): Promise<Outcome> {
    const stop = new AbortController();
    const settled = this.#settle(outcome, input, stop, signal).finally(() => this.#asking.delete(stop));
    this.#asking.set(stop, settled);
    return settled;
  }

  /** Whoever is still being asked need not answer any more: the calls are blocked, the plugins told. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const asking = [...this.#asking];
    for (const [stop] of asking) stop.abort(new CreelError("ERR_HOST_CLOSED"));
    await Promise.allSettled(asking.map(([, settled]) => settled));
  }

  async #settle(outcome: AskingOutcome, input: RunInput, stop: AbortController, signal: AbortSignal | undefined): Promise<Outcome> {
    const { onResolution, ...request } = outcome.result.requireApproval;
    const question = questionOf(outcome, request, input);
    const invoke = this.#options.wayBack(input.plan.find(({ plugin }) => plugin.id === question.pluginId)!);
    const tell = (resolution: ApprovalResolution): void => {
      if (onResolution === undefined || invoke(onResolution, input.cause, resolution)) return;
      this.#options.logger.warn(
        { plugin: question.pluginId, runId: question.runId, resolution },
        "onResolution was not called: the plugin was reloaded or disabled meanwhile",
      );
    };
    let settled: Settled;
    try {
      settled = await this.#resolve(question, stop, signal);
    } catch (error) {
      tell("cancelled");
      throw error;
    }
    const { resolution, blocked } = settled;
    tell(resolution);
    const approval = { pluginId: question.pluginId, resolution };
    const { requireApproval: _, ...result } = outcome.result;
    if (blocked === undefined) return { ...outcome, result: { ...result, requireApproval: request }, approval };
    const refused = { ...result, requireApproval: request, block: true, blockReason: blocked };
    return { ...outcome, decision: "block", by: question.pluginId, reason: blocked, result: refused, approval };
  }

  /** `stop` tells the gateway that its answer is not wanted any more: the run was aborted, the time is over, or it has answered. */
  async #resolve(question: ApprovalQuestion, stop: AbortController, signal: AbortSignal | undefined): Promise<Settled> {
    const remembered: RememberedApproval = { pluginId: question.pluginId, toolName: question.toolName ?? "", agentId: question.agentId };
    // A plugin that does not allow "always" this time wants to be asked about.
    if (this.#always.has(keyOf(remembered)) && isAllowed(question, "allow-always"))
      return { resolution: "allow-always", blocked: undefined };
    const { ask } = this.#options;
    if (!ask) return { resolution: "cancelled", blocked: "Plugin approval unavailable (no approval route)" };
    const onAbort = (): void => stop.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const decision = await pTimeout(ask(question, { signal: stop.signal }), {
        milliseconds: question.timeoutMs,
        fallback: () => null,
        signal: stop.signal,
      });
      if (decision === undefined) return { resolution: "cancelled", blocked: "Plugin approval unavailable (no approval route)" };
      if (decision === "deny") return { resolution: "deny", blocked: "Denied by user" };
      if (decision === null || !isAllowed(question, decision)) return this.#timedOut(question);
      if (decision === "allow-always") this.#always.set(keyOf(remembered), remembered);
      return { resolution: decision, blocked: undefined };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (this.#isClosed) return { resolution: "cancelled", blocked: "Approval cancelled (the host was closed)" };
      this.#options.logger.error(
        { plugin: question.pluginId, runId: question.runId, err: error },
        "the gateway could not ask for an approval",
      );
      return { resolution: "cancelled", blocked: "Plugin approval required (gateway unavailable)" };
    } finally {
      signal?.removeEventListener("abort", onAbort);
      stop.abort();
    }
  }

  #timedOut({ pluginId, runId, timeoutBehavior, timeoutReason }: ApprovalQuestion): Settled {
    if (timeoutBehavior === "allow") {
      if (this.#options.allowOnTimeout) return { resolution: "timeout", blocked: undefined };
      this.#options.logger.warn(
        { plugin: pluginId, runId },
        "timeoutBehavior allow is not honoured: set approvals.plugin.allowOnTimeout to permit it",
      );
    }
    return { resolution: "timeout", blocked: timeoutReason ?? "Approval timed out" };
  }
}

function questionOf(
  { hook, runId, result }: AskingOutcome,
  request: Omit<ApprovalRequest, "onResolution">,
  { event, context }: RunInput,
): ApprovalQuestion {
  return {
    ...request,
    pluginId: request.pluginId!,
    hook,
    runId,
    toolName: text(event.toolName),
    agentId: text(context.agentId),
    sessionKey: text(context.sessionKey),
    // What will run, as the handlers saw it. With isolated rewrites a result holds only what a handler changed.
    params: JSON.parse(JSON.stringify({ ...(event.params as Fields), ...(result.params as Fields | undefined) })) as Fields,
    timeoutMs: Math.min(request.timeoutMs ?? LIMITS.approvalMs, LIMITS.maxApprovalMs),
  };
}

function isAllowed({ allowedDecisions }: ApprovalQuestion, decision: string): decision is "allow-once" | "allow-always" {
  if (decision !== "allow-once" && decision !== "allow-always") return false;
  return allowedDecisions?.includes(decision) ?? true;
}

function keyOf({ pluginId, toolName, agentId }: RememberedApproval): string {
  return JSON.stringify([pluginId, toolName, agentId ?? null]);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

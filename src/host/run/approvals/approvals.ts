/**
 * Trusted side: asks the user, through the gateway, when plugins want a tool call approved: one question about all of their
 * requests and about what was changed after them. Nothing but an allowing answer in time lets the call run, with the
 * parameters of the question. Every plugin's `onResolution` is told exactly once how it ended.
 */
import { setImmediate as breath } from "node:timers/promises";
import { CreelError } from "../../../protocol/errors.ts";
import type { ApprovalDecision, ApprovalRequest, ApprovalResolution } from "../../../protocol/hooks/tool.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { Asked, Fields } from "../../../protocol/rules/merge.ts";
import type { Outcome, SettledApproval } from "../../../protocol/outcome.ts";
import { changesOf } from "./changes.ts";
import type { ApprovalChange, Changes } from "./changes.ts";
import { AlwaysFile } from "./always-file.ts";
import { ApprovalDesk } from "./desk.ts";
import type { Answered, OpenApproval } from "./desk.ts";
import { ApprovalLedger } from "./ledger.ts";
import { ApprovalMemory } from "./memory.ts";
import type { RememberedApproval, RevokedApproval } from "./memory.ts";
import { boundedQuestionOf, permits, questionOf, text, wantsAllowOnTimeout } from "./question.ts";
import type { ApprovalQuestion, RequestedApproval } from "./question.ts";
import type { HostEvents } from "../../report/events.ts";
import type { Logger } from "../../report/log.ts";
import type { Handler } from "../../plugins/registry.ts";
import type { RunInput } from "../run-input.ts";

/** A decision, with the user's name for the audit log if known. Null: no answer in time. Undefined: there is no user to ask. */
export type ApprovalAnswer = ApprovalDecision | { readonly decision: ApprovalDecision; readonly by?: string } | null | undefined;

/** The gateway's own way to ask. The answer counts for all requests of the question. */
export type RequestApproval = (question: ApprovalQuestion, options: { readonly signal: AbortSignal }) => Promise<ApprovalAnswer>;

/** How one run asks. */
export interface AskingOptions {
  readonly signal?: AbortSignal | undefined;
  /** Instead of the gateway's `requestApproval`. The caller takes charge: operators see this approval and cannot answer it. */
  readonly requestApproval?: RequestApproval | undefined;
  /** False: the host neither remembers an "always" nor uses one; that is left to the caller. */
  readonly remember?: boolean | undefined;
}

/** Calls a function that lives in a cell. False: the cell is gone, and the function with it. */
export type WayBack = (handle: number, cause: number, argument: ApprovalResolution) => boolean;

export interface ApprovalsOptions {
  readonly ask: RequestApproval | undefined;
  readonly allowOnTimeout: boolean;
  /** Operators answer, although none may be connected: a call waits for them. */
  readonly isAnswerable: boolean;
  readonly stateDir: string | undefined;
  readonly events: HostEvents;
  readonly logger: Logger;
  /** The way back into the cell that a handler is called in. */
  wayBack(handler: Handler): WayBack;
}

/** One request that is being settled. */
interface Pending {
  readonly request: RequestedApproval;
  readonly key: RememberedApproval;
  /** The digest of the plugin's code. */
  readonly bundle: string;
  readonly isRemembered: boolean;
  readonly tell: (resolution: ApprovalResolution) => void;
}

interface Settled {
  readonly resolution: ApprovalResolution;
  /** Why the call does not run; undefined: it does. */
  readonly blocked: string | undefined;
  readonly answeredBy?: string | undefined;
}

const NO_ROUTE: Settled = { resolution: "cancelled", blocked: "Plugin approval unavailable (no approval route)" };
const UNAVAILABLE: Settled = { resolution: "cancelled", blocked: "Plugin approval required (gateway unavailable)" };

const CLOSED: Settled = { resolution: "cancelled", blocked: "Approval cancelled (the host was closed)" };

const refused = (why: string): Settled => ({ resolution: "cancelled", blocked: `Plugin approval refused: ${why}` });

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #memory: ApprovalMemory;
  /** Questions that are open, and the runs that wait for them. */
  readonly #asking = new Map<AbortController, Promise<unknown>>();
  readonly ledger: ApprovalLedger;
  readonly desk: ApprovalDesk;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    const { stateDir, logger, events, isAnswerable } = options;
    this.#memory = new ApprovalMemory(stateDir === undefined ? undefined : new AlwaysFile(stateDir, logger));
    this.ledger = new ApprovalLedger(stateDir, logger);
    this.desk = new ApprovalDesk({ events, ledger: this.ledger, isAnswerable });
  }

  remembered(): RememberedApproval[] {
    return this.#memory.list();
  }

  revoke(approval: RevokedApproval): boolean {
    return this.#memory.revoke(approval);
  }

  /** For an outcome that passes. Rejects only when the signal is aborted. */
  settle(outcome: Outcome, asked: Asked<Handler>, input: RunInput, options: AskingOptions = {}): Promise<Outcome> {
    const stop = new AbortController();
    const settled = this.#settle(outcome, asked, input, stop, options).finally(() => this.#asking.delete(stop));
    this.#asking.set(stop, settled);
    return settled;
  }

  /** Ends the questions that are open: the calls are blocked, the plugins told. */
  async close(): Promise<void> {
    const asking = [...this.#asking];
    for (const [stop] of asking) stop.abort(new CreelError("ERR_HOST_CLOSED"));
    await Promise.allSettled(asking.map(([, settled]) => settled));
    await this.ledger.close();
  }

  async #settle(outcome: Outcome, asked: Asked<Handler>, input: RunInput, stop: AbortController, options: AskingOptions): Promise<Outcome> {
    const found = changesOf(asked.changes);
    const { changes, outdated } = found;
    const mayRemember = options.remember !== false;
    // Memory does not answer a request that was made for other parameters than those that will run.
    const all = asked.requests.map(({ by, value }, at) => this.#pending(by, value, input, mayRemember && at >= outdated));
    const open = all.filter(({ isRemembered }) => !isRemembered);
    for (const { isRemembered, tell } of all) if (isRemembered) tell("allow-always");
    let settled: Settled = { resolution: "allow-always", blocked: undefined };
    try {
      if (open.length > 0) settled = await this.#ask(outcome, open, found, input, stop, options);
    } catch (error) {
      for (const { tell } of open) tell("cancelled");
      throw error;
    }
    for (const { key, bundle, tell } of open) {
      if (settled.resolution === "allow-always" && mayRemember) this.#memory.add(key, bundle);
      tell(settled.resolution);
    }
    const approval = settledApproval(all, open[0] ?? all[0]!, changes, settled);
    const { blocked } = settled;
    if (blocked === undefined) return { ...outcome, approval };
    const result = { ...(outcome.result as Fields | undefined), block: true, blockReason: blocked };
    return { ...outcome, decision: "block", by: approval.pluginId, reason: blocked, result, approval };
  }

  #pending(handler: Handler, value: Fields, { event, context, cause, runId }: RunInput, isUpToDate: boolean): Pending {
    const { onResolution, ...given } = value as unknown as ApprovalRequest;
    const pluginId = handler.plugin.id;
    const matcher = handler.filter?.matcher && [...handler.filter.matcher].toSorted();
    const request: RequestedApproval = { ...given, pluginId, ...(matcher && { matcher }) };
    const { title, scope } = request;
    const key: RememberedApproval = {
      pluginId,
      toolName: text(event.toolName) ?? "",
      agentId: text(context.agentId),
      title,
      ...(scope !== undefined && { scope }),
      ...(matcher && { matcher }),
    };
    // A plugin that does not allow "always" this time wants the user to be asked.
    const bundle = handler.plugin.bundle?.digest ?? "";
    const isRemembered = isUpToDate && permits(request, "allow-always") && this.#memory.has(key, bundle);
    const invoke = this.#options.wayBack(handler);
    const tell = (resolution: ApprovalResolution): void => {
      if (onResolution === undefined || invoke(onResolution, cause, resolution)) return;
      this.#options.logger.warn(
        { plugin: pluginId, runId, resolution },
        "onResolution was not called: the plugin was reloaded or disabled meanwhile",
      );
    };
    return { request, key, bundle, isRemembered, tell };
  }

  /** `stop` tells the gateway that its answer is not wanted any more: the run was aborted, the time is over, or there is an answer. */
  async #ask(
    { result }: Outcome,
    open: readonly Pending[],
    { changes, excess }: Changes,
    input: RunInput,
    stop: AbortController,
    { signal, requestApproval }: AskingOptions,
  ): Promise<Settled> {
    const ask = requestApproval ?? this.#options.ask;
    // Safe by default: a call that no approver can allow is blocked at once.
    if (!ask && !this.desk.isAttended) return NO_ROUTE;
    if (open.length > LIMITS.approval.requests)
      return refused(`${open.length} requests are more than one question shows (${LIMITS.approval.requests})`);
    if (excess !== undefined)
      return refused(`the plugin "${excess}" changed more parameters than one question shows (${LIMITS.approval.changes})`);
    // The turn that merged long results was long enough.
    if (input.cost) await breath();
    if (stop.signal.aborted) return CLOSED;
    signal?.throwIfAborted();
    const requests = open.map(({ request }) => request);
    const onAbort = (): void => stop.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const { allowOnTimeout } = this.#options;
      const parts = { input, result: result as Fields | undefined, requests, changes, allowOnTimeout };
      const question = input.cost ? input.cost.measure(() => boundedQuestionOf(parts)) : questionOf(parts);
      if (!question)
        return refused(
          `the plugin "${input.cost!.payer}" made the parameters more than one question shows (${LIMITS.approval.values} values)`,
        );
      const waiting = this.desk.open(question, requestApproval === undefined);
      stop.signal.addEventListener("abort", () => waiting.stop(), { once: true });
      if (ask) void this.#askGateway(ask, question, waiting, stop.signal);
      const answered = await waiting.settled;
      if (signal?.aborted) throw signal.reason;
      return this.#settledBy(answered, question, requests);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      this.#complain(requests[0]!.pluginId, input.runId, error);
      return UNAVAILABLE;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      stop.abort();
    }
  }

  /** Never rejects. The answer counts if it is the first; without one, operators may still answer. */
  async #askGateway(ask: RequestApproval, question: ApprovalQuestion, waiting: OpenApproval, signal: AbortSignal): Promise<void> {
    try {
      const answer = await ask(question, { signal });
      if (answer === undefined) return waiting.giveUp("route");
      const { decision, by } = read(answer);
      // SECURITY: what a request does not permit, or is no decision, allows nothing. test/contract/approval.test.ts
      if (decision === undefined || !waiting.decide(decision, by)) waiting.giveUp("unanswered");
    } catch (error) {
      // An answer that is no longer wanted was withdrawn.
      if (!signal.aborted) this.#complain(question.requests[0]!.pluginId, question.runId, error);
      waiting.giveUp("failed");
    }
  }

  #settledBy(
    { resolution, by: answeredBy, without }: Answered,
    question: ApprovalQuestion,
    requests: readonly RequestedApproval[],
  ): Settled {
    if (without === "route") return NO_ROUTE;
    if (without === "failed") return UNAVAILABLE;
    if (without === "stopped") return CLOSED;
    if (without === "unanswered") return this.#timedOut(question, requests);
    return { resolution, blocked: resolution === "deny" ? "Denied by user" : undefined, answeredBy };
  }

  #complain(plugin: string, runId: string, err: unknown): void {
    this.#options.logger.error({ plugin, runId, err }, "the gateway could not ask for an approval");
  }

  #timedOut({ runId, timeoutBehavior, timeoutReason }: ApprovalQuestion, requests: readonly RequestedApproval[]): Settled {
    if (timeoutBehavior === "allow") return { resolution: "timeout", blocked: undefined };
    if (wantsAllowOnTimeout(requests))
      this.#options.logger.warn(
        { plugin: requests[0]!.pluginId, runId },
        "timeoutBehavior allow is not honoured: set approvals.plugin.allowOnTimeout to permit it",
      );
    return { resolution: "timeout", blocked: timeoutReason ?? "Approval timed out" };
  }
}

function read(answer: NonNullable<ApprovalAnswer> | null): { decision: ApprovalDecision | undefined; by: string | undefined } {
  const { decision, by } = typeof answer === "object" && answer !== null ? answer : { decision: answer, by: undefined };
  return {
    decision: decision === "allow-once" || decision === "allow-always" || decision === "deny" ? decision : undefined,
    by: typeof by === "string" ? by : undefined,
  };
}

function settledApproval(
  all: readonly Pending[],
  decisive: Pending,
  changes: readonly ApprovalChange[],
  { resolution, answeredBy }: Settled,
): SettledApproval {
  return {
    pluginId: decisive.request.pluginId,
    resolution,
    requests: all.map(({ request: { pluginId, title, severity }, isRemembered }) => ({
      pluginId,
      title,
      ...(severity !== undefined && { severity }),
      resolution: isRemembered ? ("allow-always" as const) : resolution,
      ...(isRemembered && { isRemembered }),
    })),
    ...(changes.length > 0 && {
      changes: changes.map(({ pluginId, params, removed = [] }) => ({ pluginId, params: [...Object.keys(params), ...removed] })),
    }),
    ...(answeredBy !== undefined && { answeredBy }),
  };
}

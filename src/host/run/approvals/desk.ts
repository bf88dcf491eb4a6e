/**
 * Trusted side: the approvals that wait for an answer. The gateway's own callback and every operator (console, `creel approvals`,
 * an embedder) may answer; the first valid answer wins, all others learn how it ended. Who answers is trusted, what they saw is
 * not: an answer counts only for the id and the digest that it names, and only in time by the host's clock.
 */
import { randomBytes } from "node:crypto";
import { LIMITS } from "../../../protocol/limits.ts";
import type { ApprovalReceipt, ApprovalReply, AnswerOrigin, PendingApproval } from "../../../protocol/live-report.ts";
import type { ApprovalDecision, ApprovalResolution } from "../../../protocol/hooks/tool.ts";
import { oneLine } from "../../../text/one-line.ts";
import { BoundedMap } from "../../bounded-map.ts";
import type { HostEvents } from "../../report/events.ts";
import { digestOf } from "./digest.ts";
import type { ApprovalLedger } from "./ledger.ts";
import type { ApprovalQuestion } from "./question.ts";

/** Why no answer came: `unanswered` (in time), no `route` to a user, a `failed` gateway, a `stopped` run or host. */
export type NoAnswer = "unanswered" | "route" | "failed" | "stopped";

export interface Answered {
  readonly resolution: ApprovalResolution;
  readonly by?: string | undefined;
  /** Set: no person decided. */
  readonly without?: NoAnswer | undefined;
}

export interface OpenApproval {
  readonly pending: PendingApproval;
  /** Never rejects. */
  readonly settled: Promise<Answered>;
  /** The gateway's user has decided. Ignored if it is late, or if a request does not permit it. */
  decide(decision: ApprovalDecision, by: string | undefined): boolean;
  /** The gateway has no answer: the approval goes on waiting if an operator may answer it. */
  giveUp(without: NoAnswer): void;
  /** The run or the host ends. */
  stop(): void;
}

export interface DeskOptions {
  readonly events: HostEvents;
  readonly ledger: ApprovalLedger;
  /** The configuration says that operators answer, although none is connected now. */
  readonly isAnswerable: boolean;
}

interface Entry {
  readonly pending: PendingApproval;
  readonly bytes: number;
  /** By `performance.now`. */
  readonly deadlineMs: number;
  readonly permitted: readonly ApprovalDecision[];
  readonly isForOperators: boolean;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answered: Answered) => void;
}

export class ApprovalDesk {
  readonly #options: DeskOptions;
  readonly #open = new Map<string, Entry>();
  /** How recent ones ended, for answers that come too late. */
  readonly #ended = new BoundedMap<ApprovalReceipt>(LIMITS.approval.remembered);
  #offers = 0;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** May anyone but the run's own gateway answer? */
  get isAttended(): boolean {
    return this.#offers > 0 || this.#options.isAnswerable;
  }

  /** An operator has come. Returns the function that tells that they have left. */
  offer(): () => void {
    let isOver = false;
    this.#offers += 1;
    return () => {
      if (!isOver) this.#offers -= 1;
      isOver = true;
    };
  }

  /** `isForOperators` false: the caller of the run answers by itself, and operators only see it. */
  open(question: ApprovalQuestion, isForOperators: boolean): OpenApproval {
    const { promise, resolve } = Promise.withResolvers<Answered>();
    const { allowedDecisions, timeoutMs } = question;
    const bytes = Buffer.byteLength(JSON.stringify(question.params));
    const pending = pendingOf(question, this.#freeId(), isForOperators, bytes > LIMITS.approval.shownBytes);
    const timer = setTimeout(() => this.#settle(entry, { resolution: "timeout", without: "unanswered" }), timeoutMs);
    const deadlineMs = performance.now() + timeoutMs;
    const entry: Entry = { pending, bytes, deadlineMs, permitted: allowedDecisions, isForOperators, timer, resolve };
    this.#open.set(pending.id, entry);
    const { id, runId, toolName } = pending;
    this.#options.events.publish("approval", { what: "asked", id, runId, toolName, plugins: pluginsOf(pending), pending });
    return {
      pending,
      settled: promise,
      decide: (decision, by) => {
        if (isLate(entry) || !allowedDecisions.includes(decision)) return false;
        this.#settle(entry, { resolution: decision, by: by === undefined ? undefined : nameOf(by) }, "gateway");
        return true;
      },
      giveUp: (without) => {
        if (isForOperators && this.isAttended) return;
        this.#settle(entry, { resolution: without === "unanswered" ? "timeout" : "cancelled", without });
      },
      stop: () => this.#settle(entry, { resolution: "cancelled", without: "stopped" }),
    };
  }

  /** The oldest first. Past the room of a message, parameters are left out, and then only a denial counts. */
  list(): PendingApproval[] {
    let room: number = LIMITS.approval.listBytes;
    return Array.from(this.#open.values(), ({ pending, bytes }) => {
      if (pending.isCut) return pending;
      room -= bytes;
      return room < 0 ? withoutParams(pending) : pending;
    });
  }

  /** SECURITY: only an answer to exactly what waits, in time, and permitted by every request decides. test/contract/approval-desk.test.ts */
  answer({ id, digest, decision, by }: ApprovalReply, from: AnswerOrigin): ApprovalReceipt {
    const entry = this.#open.get(id);
    if (!entry) return this.#ended.get(id) ?? { status: "unknown" };
    if (isLate(entry)) {
      this.#settle(entry, { resolution: "timeout", without: "unanswered" });
      return this.#ended.get(id)!;
    }
    if (digest !== entry.pending.digest) return { status: "changed" };
    if (!entry.pending.allowed.includes(decision)) return { status: "refused" };
    const name = by === undefined ? undefined : nameOf(by);
    this.#settle(entry, { resolution: decision, by: name }, from);
    return { status: "accepted", resolution: decision, ...(name !== undefined && { by: name }) };
  }

  #settle(entry: Entry, answered: Answered, from: AnswerOrigin | "none" = "none"): void {
    const { pending, timer, resolve } = entry;
    const { id, runId, toolName } = pending;
    if (!this.#open.delete(id)) return;
    clearTimeout(timer);
    const { resolution, by, without } = answered;
    const who = by !== undefined && { by };
    this.#ended.set(id, { status: "settled", resolution, ...who });
    const at = Date.now();
    const waitedMs = Math.max(0, at - pending.askedAt);
    const plugins = pluginsOf(pending);
    // A question that no person could see is no decision.
    if (without !== "route") {
      const titles = pending.requests.map(({ title }) => oneLine(title, LIMITS.approval.titleChars));
      this.#options.ledger.add({ at, id, runId, toolName, plugins, titles, digest: pending.digest, resolution, ...who, from, waitedMs });
    }
    const what = resolution === "timeout" ? "expired" : "settled";
    this.#options.events.publish("approval", { what, id, runId, toolName, plugins, resolution, ...who, from, waitedMs });
    resolve(answered);
  }

  #freeId(): string {
    for (;;) {
      const id = randomBytes(4).toString("hex");
      if (!this.#open.has(id) && !this.#ended.get(id)) return id;
    }
  }
}

function pendingOf(question: ApprovalQuestion, id: string, isForOperators: boolean, isCut: boolean): PendingApproval {
  const { runId, toolName = "", agentId, sessionKey, params, requests, changes, allowedDecisions, timeoutMs } = question;
  const askedAt = Date.now();
  const whole: PendingApproval = {
    id,
    runId,
    toolName,
    ...(agentId !== undefined && { agentId }),
    ...(sessionKey !== undefined && { sessionKey }),
    params,
    digest: digestOf(toolName, params),
    requests: requests.map(({ pluginId, title, description, severity }) => ({
      pluginId,
      title,
      description,
      ...(severity !== undefined && { severity }),
    })),
    ...(changes.length > 0 && {
      changes: changes.map((change) => ({ pluginId: change.pluginId, params: [...Object.keys(change.params), ...(change.removed ?? [])] })),
    }),
    allowed: isForOperators ? allowedDecisions : [],
    askedAt,
    expiresAt: askedAt + timeoutMs,
  };
  return isCut ? withoutParams(whole) : whole;
}

/** SECURITY: what was not shown cannot be allowed. test/contract/approval-desk.test.ts */
function withoutParams(pending: PendingApproval): PendingApproval {
  return { ...pending, params: {}, isCut: true, allowed: pending.allowed.filter((decision) => decision === "deny") };
}

function pluginsOf({ requests }: PendingApproval): string[] {
  return [...new Set(requests.map(({ pluginId }) => pluginId))];
}

/** Timers are late on a busy machine, and a clock that was set or a machine that slept moves the wall clock alone. Either one ends it. */
function isLate({ deadlineMs, pending: { expiresAt } }: Entry): boolean {
  return performance.now() >= deadlineMs || Date.now() >= expiresAt;
}

function nameOf(by: string): string {
  return oneLine(by, LIMITS.call.nameChars);
}

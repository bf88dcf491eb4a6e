/** Trusted side: a run as a line of the audit log. */
import type { AuditCall, AuditRun, AuditShown } from "../../protocol/audit-line.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Call, Outcome, SettledApproval } from "../../protocol/outcome.ts";
import type { Handler } from "../plugins/registry.ts";
import { NO_CONTEXT } from "../run/prepare.ts";
import type { RunInput } from "../run/run-input.ts";
import type { Sanitiser } from "./sanitiser.ts";
import { isTooLong, replay } from "./replay.ts";
import type { Replayed } from "./replay.ts";

export function runEntry(
  input: RunInput,
  outcome: Outcome,
  sanitiser: Sanitiser,
  hasEvents: boolean,
): Omit<AuditRun, "v" | "at" | "host" | "pid"> {
  const { eventText, contextText, chain, hook, failure, plan } = input;
  const { runId, decision, by, reason, approval } = outcome;
  const calls = outcome.calls.slice(0, LIMITS.audit.calls);
  const isLong = isTooLong(input);
  const replayed = isLong || !hasEvents ? undefined : replay(input, calls);
  const room = new Room(sanitiser);
  return {
    kind: "run",
    runId,
    hook: hook.name,
    decision,
    ...(by !== undefined && { by }),
    ...(typeof reason === "string" && { reason: sanitiser.words(reason) }),
    failure,
    chain: { rootRunId: chain.rootRunId, depth: chain.depth, path: chain.path.slice(0, 64) },
    ...(approval && { approval: approvalEntry(approval, sanitiser) }),
    ...(hasEvents && {
      event: room.json(eventText),
      ...(contextText !== NO_CONTEXT && { context: room.json(contextText) }),
      ...(outcome.result !== undefined && { result: room.json(JSON.stringify(outcome.result) ?? "null") }),
    }),
    ...(hasEvents &&
      isLong && { unknown: `event and answers are longer than ${LIMITS.audit.replayChars} characters, or many for their length` }),
    calls: calls.map((call, at) => callEntry(call, plan[at]!, replayed?.[at], room, sanitiser)),
    ...(outcome.calls.length > calls.length && { more: outcome.calls.length - calls.length }),
  };
}

/** Parameter names are as short as field names, and requests as many as one approval may hold. */
function approvalEntry(approval: SettledApproval, sanitiser: Sanitiser): NonNullable<AuditRun["approval"]> {
  const { pluginId, resolution, requests, changes, answeredBy } = approval;
  return {
    pluginId,
    resolution,
    requests: requests.slice(0, LIMITS.audit.calls).map((request) => ({ ...request, title: sanitiser.words(request.title) })),
    ...(changes && {
      changes: changes.slice(0, LIMITS.audit.calls).map((change) => ({
        pluginId: change.pluginId,
        params: change.params.slice(0, MAX_PARAMS).map((param) => sanitiser.words(param, 128)),
      })),
    }),
    ...(answeredBy !== undefined && { answeredBy: sanitiser.words(answeredBy) }),
  };
}

/** Enough of the changed parameters to help; the returned value has them all. */
const MAX_PARAMS = 32;

function callEntry(call: Call, { budget }: Handler, replayed: Replayed | undefined, room: Room, sanitiser: Sanitiser): AuditCall {
  const { plugin, priority, status, wallMs, cpuMs, error, ignored } = call;
  return {
    plugin,
    priority,
    status,
    wallMs,
    cpuMs,
    budget: { wallMs: { ...budget.wallMs }, cpuMs: { ...budget.cpuMs } },
    ...(replayed?.saw && { saw: room.json(JSON.stringify(replayed.saw)) }),
    ...(replayed?.returned !== undefined && { returned: room.json(replayed.returned) }),
    ...(replayed && replayed.changed.length > 0 && { changed: [...replayed.changed] }),
    ...(error && {
      error: {
        code: error.code,
        message: sanitiser.words(error.message),
        ...(error.at !== undefined && { at: sanitiser.words(error.at) }),
      },
    }),
    ...(ignored && { ignored: ignored.map((field) => sanitiser.words(field, 128)) }),
  };
}

/** A line is bounded: later values of a long one are cut shorter. */
class Room {
  readonly #sanitiser: Sanitiser;
  #left: number = LIMITS.audit.lineChars;

  constructor(sanitiser: Sanitiser) {
    this.#sanitiser = sanitiser;
  }

  json(text: string): AuditShown {
    const max = Math.min(LIMITS.audit.valueChars, this.#left);
    this.#left -= Math.min(text.length, max);
    return this.#sanitiser.json(text, max);
  }
}

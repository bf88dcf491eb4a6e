/** Trusted side: a run as it stands in the audit log. */
import type { AuditCall, AuditRun, AuditShown } from "../../protocol/audit-line.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";
import type { Handler } from "../registry.ts";
import { NO_CONTEXT } from "../runner/prepare.ts";
import type { RunInput } from "../runner/run-input.ts";
import type { Cleaner } from "./cleaner.ts";
import { replay, replayChars } from "./replay.ts";
import type { Replayed } from "./replay.ts";

export function runEntry(
  input: RunInput,
  outcome: Outcome,
  cleaner: Cleaner,
  hasEvents: boolean,
): Omit<AuditRun, "v" | "at" | "host" | "pid"> {
  const { eventText, contextText, chain, hook, failure, plan } = input;
  const { runId, decision, by, reason, approval } = outcome;
  const calls = outcome.calls.slice(0, LIMITS.auditCalls);
  const isLong = replayChars(input) > LIMITS.auditReplayChars;
  const replayed = isLong || !hasEvents ? undefined : replay(input, calls);
  const room = new Room(cleaner);
  return {
    kind: "run",
    runId,
    hook: hook.name,
    decision,
    ...(by !== undefined && { by }),
    ...(typeof reason === "string" && { reason: cleaner.words(reason) }),
    failure,
    chain: { rootRunId: chain.rootRunId, depth: chain.depth, path: chain.path.slice(0, 64) },
    ...(approval && { approval: { pluginId: approval.pluginId, resolution: approval.resolution } }),
    ...(hasEvents && {
      event: room.json(eventText),
      ...(contextText !== NO_CONTEXT && { context: room.json(contextText) }),
      ...(outcome.result !== undefined && { result: room.json(JSON.stringify(outcome.result) ?? "null") }),
    }),
    ...(hasEvents && isLong && { unknown: `event and answers are longer than ${LIMITS.auditReplayChars} characters` }),
    calls: calls.map((call, at) => callEntry(call, plan[at]!, replayed?.[at], room, cleaner)),
    ...(outcome.calls.length > calls.length && { more: outcome.calls.length - calls.length }),
  };
}

function callEntry(call: Call, { budget }: Handler, replayed: Replayed | undefined, room: Room, cleaner: Cleaner): AuditCall {
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
      error: { code: error.code, message: cleaner.words(error.message), ...(error.at !== undefined && { at: cleaner.words(error.at) }) },
    }),
    ...(ignored && { ignored: ignored.map((field) => cleaner.words(field, 128)) }),
  };
}

/** A line has an end: what comes late in a long one is cut shorter. */
class Room {
  readonly #cleaner: Cleaner;
  #left: number = LIMITS.auditLineChars;

  constructor(cleaner: Cleaner) {
    this.#cleaner = cleaner;
  }

  json(text: string): AuditShown {
    const max = Math.min(LIMITS.auditValueChars, this.#left);
    this.#left -= Math.min(text.length, max);
    return this.#cleaner.json(text, max);
  }
}

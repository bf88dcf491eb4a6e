/**
 * Trusted side: what spans say. Names and numbers of Creel's own, and the few fields of an event that have a standard name. Never the
 * content of an event, a result, a reason or a message: a trace leaves the machine.
 */
import type { Attributes } from "@opentelemetry/api";
import { LIMITS } from "../../protocol/limits.ts";
import type { RecordedCall } from "../../protocol/live-report.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { Handler } from "../plugins/registry.ts";
import type { RunInput } from "../run/run-input.ts";

/** Known when the run begins; samplers see these. */
export function runAttributes({ runId, hook, chain, event, context }: RunInput, host: string): Attributes {
  const { trace } = context as { trace?: { traceId?: unknown; spanId?: unknown } };
  return {
    "creel.hook": hook.name,
    "creel.run.id": runId,
    "creel.run.depth": chain.depth,
    "creel.host.id": host,
    ...text("gen_ai.tool.name", event, "toolName"),
    ...text("gen_ai.tool.call.id", event, "toolCallId"),
    ...text("gen_ai.agent.id", context, "agentId"),
    // OpenClaw's own names: its exported spans are found by these, not by ids.
    ...text("openclaw.traceId", trace, "traceId"),
    ...text("openclaw.spanId", trace, "spanId"),
  };
}

export function toolAttributes(name: string): Attributes {
  return { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name };
}

export function endAttributes({ decision, by }: Outcome): Attributes {
  return { "creel.decision": decision, ...(by !== undefined && { "creel.decided_by": by }) };
}

export function callAttributes(call: RecordedCall, { plugin }: Handler, isColdStart: boolean): Attributes {
  return {
    "creel.plugin.id": call.plugin,
    ...(plugin.version !== undefined && { "creel.plugin.version": plugin.version }),
    ...(plugin.bundle && { "creel.plugin.digest": plugin.bundle.digest }),
    "creel.call.status": call.status,
    "creel.call.cpu_time": call.cpuMs / 1_000,
    "creel.call.attempt": call.attempt ?? 1,
    ...(call.lane !== undefined && { "creel.lane": call.lane }),
    ...(isColdStart && { "creel.cold_start": true }),
    ...(call.error && { "error.type": call.error.code }),
  };
}

/** A field of an event is a model's or a user's text: only if it is one, and cut. */
function text(attribute: string, from: unknown, field: string): Attributes {
  const value = (from as Record<string, unknown> | undefined)?.[field];
  return typeof value === "string" ? { [attribute]: value.slice(0, LIMITS.telemetry.attributeChars) } : {};
}

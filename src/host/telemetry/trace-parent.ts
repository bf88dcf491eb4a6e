/** Trusted side: span contexts from text of others: a `traceparent` header, or the trace that a gateway puts into a hook's context. */
import type { SpanContext } from "@opentelemetry/api";

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;

/** Undefined: it is none. */
export function parentOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = (typeof traceparent === "string" && TRACEPARENT.exec(traceparent)) || [];
  return traceId === undefined ? undefined : valid(traceId, spanId!, Number.parseInt(flags!, 16) & SAMPLED);
}

/** OpenClaw's diagnostic trace: to link to. No exported span has these ids, so none can be its child. */
export function contextOf(trace: unknown): SpanContext | undefined {
  const { traceId, spanId } = (trace ?? {}) as { traceId?: unknown; spanId?: unknown };
  return typeof traceId === "string" && typeof spanId === "string" ? parentOf(`00-${traceId}-${spanId}-00`) : undefined;
}

function valid(traceId: string, spanId: string, traceFlags: number): SpanContext | undefined {
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags, isRemote: true };
}

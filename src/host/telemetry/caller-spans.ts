/** Trusted side: the span of a gateway that uses a host in another process, as a `traceparent` for that host. */
import type { OtelApi } from "./otel-api.ts";
import type { TelemetryOptions } from "./tracing.ts";

export class CallerSpans {
  readonly #api: OtelApi;
  readonly #options: TelemetryOptions;

  constructor(api: OtelApi, options: TelemetryOptions) {
    this.#api = api;
    this.#options = options;
  }

  /** Undefined: no span is active, and the gateway names none. */
  traceparent(hook: string, event: unknown, context: unknown): string | undefined {
    const { trace, context: contexts } = this.#api;
    const active = trace.getSpanContext(contexts.active());
    if (!active) return this.#options.parent?.(hook, event, context);
    return `00-${active.traceId}-${active.spanId}-0${active.traceFlags & 1}`;
  }
}

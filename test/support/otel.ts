/** OpenTelemetry's SDK in its two majors, with an exporter in memory and an async context, registered as a gateway does. */
import { AsyncLocalStorage } from "node:async_hooks";
import { context, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import type { Context, ContextManager, TracerProvider } from "@opentelemetry/api";
import * as sdk2 from "otel-sdk-2";
import * as sdk3 from "otel-sdk-3";

/** What both majors have of a span that has ended. */
export interface ReadSpan {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly context: { readonly traceId: string; readonly spanId: string } }[];
  readonly status: { readonly code: number };
  readonly parentSpanContext?: { readonly spanId: string };
  readonly startTime: readonly [number, number];
  readonly endTime: readonly [number, number];
  spanContext(): { readonly traceId: string; readonly spanId: string };
}

export interface Registered extends Disposable {
  readonly spans: () => readonly ReadSpan[];
  readonly reset: () => void;
}

export const MAJORS = ["2.x", "3.x"] as const;

export function registered(major: (typeof MAJORS)[number], isSampled = true): Registered {
  const exporter = major === "2.x" ? new sdk2.InMemorySpanExporter() : new sdk3.InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    major === "2.x"
      ? provider2(exporter as sdk2.InMemorySpanExporter, isSampled)
      : provider3(exporter as sdk3.InMemorySpanExporter, isSampled),
  );
  context.setGlobalContextManager(new AsyncContext());
  propagation.setGlobalPropagator({
    inject: (active, carrier, setter) => {
      const span = trace.getSpanContext(active)!;
      setter.set(carrier, "traceparent", `00-${span.traceId}-${span.spanId}-0${span.traceFlags}`);
    },
    extract: (active) => active,
    fields: () => ["traceparent"],
  });
  return {
    spans: () => exporter.getFinishedSpans(),
    reset: () => exporter.reset(),
    [Symbol.dispose]() {
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

function provider2(exporter: sdk2.InMemorySpanExporter, isSampled: boolean): TracerProvider {
  const sampler = isSampled ? new sdk2.AlwaysOnSampler() : new sdk2.AlwaysOffSampler();
  return new sdk2.BasicTracerProvider({ sampler, spanProcessors: [new sdk2.SimpleSpanProcessor(exporter)] });
}

function provider3(exporter: sdk3.InMemorySpanExporter, isSampled: boolean): TracerProvider {
  const sampler = isSampled ? new sdk3.AlwaysOnSampler() : new sdk3.AlwaysOffSampler();
  return new sdk3.TracerProvider({ sampler, spanProcessors: [new sdk3.SimpleSpanProcessor({ exporter })] });
}

/** What `@opentelemetry/context-async-hooks` does. */
class AsyncContext implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => work.apply(self, args));
  }

  bind<T>(_: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}

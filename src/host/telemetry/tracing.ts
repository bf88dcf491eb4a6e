/**
 * Trusted side: OpenTelemetry spans of runs, calls, approvals and plugins' requests. A run's spans are made when it has ended, and those
 * inside it only if it is sampled. A run is a child of what was active when the gateway called the host; a run that a plugin caused is a
 * child of the run it was caused in while that one is in flight, and linked to it afterwards.
 */
import type { Attributes, Context, Link, Span, SpanContext, Tracer } from "@opentelemetry/api";
import { LIMITS } from "../../protocol/limits.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { BoundedMap } from "../bounded-map.ts";
import type { Chain } from "../causality/causes.ts";
import type { Plugin } from "../plugins/plugin.ts";
import { preciseEpochMs } from "../report/epoch.ts";
import { recordedCalls } from "../report/run-calls.ts";
import type { RunInput } from "../run/run-input.ts";
import type { OtelApi } from "./otel-api.ts";
import { callAttributes, endAttributes, runAttributes, toolAttributes } from "./span-attributes.ts";
import { contextOf, parentOf } from "./trace-parent.ts";

export interface TelemetryOptions {
  /**
   * The span that a run belongs to, as a `traceparent`, for a gateway whose tracing does not use OpenTelemetry's active context. Called
   * where no span is active. A text that is not a traceparent is ignored.
   */
  readonly parent?: (hook: string, event: unknown, context: unknown) => string | undefined;
  /** Origins that get a `traceparent` with plugins' requests. Default: none; a trace id is an identifier for a third party's server. */
  readonly propagate?: readonly string[];
}

interface TracedRun {
  readonly input: RunInput;
  readonly parent: Context;
  readonly links: Link[];
  /** Started as soon as something needs it as a parent; else when the run has ended. */
  span?: Span;
}

/** One HTTP request of a plugin. */
export interface TracedRequest {
  /** To send; empty: its origin gets none. */
  readonly headers: Readonly<Record<string, string>>;
  ended(status: number | undefined, errorType?: string): void;
}

export class Tracing {
  readonly #api: OtelApi;
  readonly #host: string;
  readonly #options: TelemetryOptions;
  readonly #tracer: Tracer;
  readonly #toolName: (plugin: Plugin, index: number) => string | undefined;
  readonly #flying = new Map<string, TracedRun>();
  /** Of runs that have ended: timers and detached promises link to them. */
  readonly #over = new BoundedMap<SpanContext>(LIMITS.telemetry.endedRuns);

  constructor(api: OtelApi, host: string, options: TelemetryOptions, toolName: (plugin: Plugin, index: number) => string | undefined) {
    this.#api = api;
    this.#host = host;
    this.#options = options;
    this.#toolName = toolName;
    this.#tracer = api.trace.getTracer("creel");
  }

  under<V>(traceparent: string, work: () => V): V {
    const { context, trace } = this.#api;
    const parent = parentOf(traceparent);
    return parent ? context.with(trace.setSpanContext(context.active(), parent), work) : work();
  }

  /** In the caller's own async context. */
  begun(input: RunInput): void {
    const { trace, context, ROOT_CONTEXT } = this.#api;
    const { chain, hook } = input;
    const active = context.active();
    const cause = this.#cause(chain);
    const links: Link[] = [];
    const caller = trace.getSpanContext(active);
    let parent = active;
    if (cause.run) {
      // What is active here may be what was active when the link to the lane was opened.
      parent = trace.setSpan(ROOT_CONTEXT, this.#spanOf(cause.run));
      if (caller) links.push({ context: caller });
    } else if (cause.context) {
      parent = ROOT_CONTEXT;
      links.push({ context: cause.context });
    } else if (!caller) {
      const given = parentOf(this.#options.parent?.(hook.name, input.event, input.context));
      if (given) parent = trace.setSpanContext(active, given);
      const diagnostic = given ? undefined : contextOf((input.context as { trace?: unknown }).trace);
      if (diagnostic) links.push({ context: diagnostic });
    }
    this.#flying.set(input.runId, { input, parent, links });
  }

  ended(input: RunInput, outcome: Outcome, endedMs: number): void {
    const run = this.#leave(input.runId);
    if (!run) return;
    const span = this.#spanOf(run);
    if (span.isRecording()) {
      span.setAttributes(endAttributes(outcome));
      this.#inside(input, outcome, endedMs, this.#api.trace.setSpan(run.parent, span));
    }
    this.#end(input.runId, span, endedMs);
  }

  aborted({ runId }: RunInput, endedMs: number): void {
    const run = this.#leave(runId);
    if (!run) return;
    const span = this.#spanOf(run);
    span.setAttribute("creel.decision", "aborted");
    this.#end(runId, span, endedMs);
  }

  /** `chain` is of what the plugin does; its last run is the one that the request is made in, or because of. */
  request(plugin: string, method: string, url: URL, chain: Chain): TracedRequest {
    const { trace, context, propagation, SpanKind, SpanStatusCode, ROOT_CONTEXT } = this.#api;
    const cause = this.#cause(chain);
    const parent = cause.run ? trace.setSpan(ROOT_CONTEXT, this.#spanOf(cause.run)) : ROOT_CONTEXT;
    const attributes: Attributes = {
      "http.request.method": method,
      "server.address": url.hostname,
      ...(url.port !== "" && { "server.port": Number(url.port) }),
      "creel.plugin.id": plugin,
    };
    const links = cause.context ? [{ context: cause.context }] : [];
    const span = this.#tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes, links }, parent);
    const headers: Record<string, string> = {};
    // SECURITY: other servers do not learn the trace's id. test/host/telemetry/tracing.test.ts
    if (this.#options.propagate?.includes(url.origin)) propagation.inject(trace.setSpan(context.active(), span), headers);
    return {
      headers,
      ended: (status, errorType) => {
        if (status !== undefined) span.setAttribute("http.response.status_code", status);
        const failed = errorType ?? (status !== undefined && status >= 400 ? String(status) : undefined);
        if (failed !== undefined) span.setAttribute("error.type", failed).setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  #cause({ runIds }: Chain): { readonly run?: TracedRun; readonly context?: SpanContext | undefined } {
    const runId = runIds.at(-1);
    if (runId === undefined) return {};
    const run = this.#flying.get(runId);
    return run ? { run } : { context: this.#over.get(runId) };
  }

  #spanOf(run: TracedRun): Span {
    if (run.span) return run.span;
    const { input, parent, links } = run;
    const [handler] = input.plan;
    const tool = input.hook.name === "tool" && handler ? this.#toolName(handler.plugin, handler.index) : undefined;
    const attributes = { ...runAttributes(input, this.#host), ...(tool !== undefined && toolAttributes(tool)) };
    const name = tool === undefined ? `hook ${input.hook.name}` : `execute_tool ${tool}`;
    run.span = this.#tracer.startSpan(name, { startTime: preciseEpochMs(input.startedMs), attributes, links }, parent);
    return run.span;
  }

  #inside(input: RunInput, outcome: Outcome, endedMs: number, parent: Context): void {
    const { SpanStatusCode } = this.#api;
    for (const [at, call] of recordedCalls(input, outcome.calls, endedMs).entries()) {
      // Not called: it is no work, and has no time.
      if (call.startMs === undefined) continue;
      const beganMs = input.startedMs + call.startMs;
      const attributes = callAttributes(call, input.plan[at]!, input.activateMs > 0);
      const span = this.#tracer.startSpan(`plugin ${call.plugin}`, { startTime: preciseEpochMs(beganMs), attributes }, parent);
      // A block is an answer, not an error.
      if (call.error) span.setStatus({ code: SpanStatusCode.ERROR, message: call.error.code });
      span.end(preciseEpochMs(beganMs + call.wallMs));
    }
    if (input.askedMs === undefined) return;
    const attributes = { "creel.approval.resolution": outcome.approval?.resolution ?? "cancelled" };
    this.#tracer.startSpan("approval", { startTime: preciseEpochMs(input.askedMs), attributes }, parent).end(preciseEpochMs(endedMs));
  }

  #leave(runId: string): TracedRun | undefined {
    const run = this.#flying.get(runId);
    this.#flying.delete(runId);
    return run;
  }

  #end(runId: string, span: Span, endedMs: number): void {
    this.#over.set(runId, span.spanContext());
    span.end(preciseEpochMs(endedMs));
  }
}

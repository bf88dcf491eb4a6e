/** Trusted side: consecutive handlers that live in one lane, with their route there. Computed once per plan. */
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Route, Step } from "../../protocol/messages/host-lane.ts";
import type { Call } from "../../protocol/outcome.ts";
import type { LaneClient } from "../supervisor/lane-client.ts";
import type { Handler, Plan } from "../plugins/registry.ts";

/** The lane that handlers live in, and their route there. */
export interface Place {
  readonly lane: LaneClient;
  readonly route: Route;
}

export interface Segment extends Place {
  readonly barred: undefined;
  readonly handlers: readonly Handler[];
}

/** A handler that is not called. */
export interface Skipped {
  readonly barred: Handler;
  readonly call: Call;
}

/** The route to one handler, where it lives now. */
export function singleRoute(hook: AnyHook, handler: Handler): Place {
  const { lane } = handler.home;
  return { lane, route: lane.route(hook.name, modeOf(hook), [stepOf(handler)]) };
}

function stepOf({ home, index, budget, plugin }: Handler): Step {
  return [home.cell, index, budget.wallMs.value, budget.cpuMs.value, plugin.budget.bytesOut.value];
}

/** Has a handler moved to another cell since the route was made? */
export function isStale({ route, handlers }: Segment): boolean {
  for (let at = 0; at < handlers.length; at++) if (handlers[at]!.home.cell !== route.steps[at]![0]) return true;
  return false;
}

function modeOf({ kind }: AnyHook): Route["mode"] {
  switch (kind) {
    case "sync":
      return "sync";
    case "evaluate":
      return "gather";
    case "observe":
      return "fan";
    default:
      return "chain";
  }
}

const known = new WeakMap<Plan, readonly Segment[]>();

/** In order: for sequential hooks. */
export function segmentsOf(hook: AnyHook, plan: Plan): readonly Segment[] {
  return known.get(plan) ?? remembered(plan, rowsOf(plan), hook);
}

function rowsOf(plan: Plan): Handler[][] {
  const rows: Handler[][] = [];
  for (const handler of plan) {
    const row = rows.at(-1);
    if (row?.[0]!.home.lane === handler.home.lane) row.push(handler);
    else rows.push([handler]);
  }
  return rows;
}

/** As above, cut at each skipped handler: whether later handlers run may depend on it. */
export function withSkipped(hook: AnyHook, plan: Plan, barred: ReadonlyMap<Handler, Call>): (Segment | Skipped)[] {
  const parts: (Segment | Skipped)[] = [];
  let from = 0;
  for (const [at, handler] of plan.entries()) {
    const call = barred.get(handler);
    if (!call) continue;
    parts.push(...segmentsOf(hook, plan.slice(from, at)), { barred: handler, call });
    from = at + 1;
  }
  return [...parts, ...segmentsOf(hook, plan.slice(from))];
}

/** By lane: for hooks whose handlers run in parallel. */
export function fansOf(hook: AnyHook, plan: Plan): readonly Segment[] {
  return known.get(plan) ?? remembered(plan, [...Map.groupBy(plan, ({ home }) => home.lane).values()], hook);
}

function remembered(plan: Plan, rows: readonly Handler[][], hook: AnyHook): readonly Segment[] {
  const segments = rows.map((handlers) => segment(hook, handlers));
  known.set(plan, segments);
  return segments;
}

function segment(hook: AnyHook, handlers: readonly Handler[]): Segment {
  const { lane } = handlers[0]!.home;
  return { barred: undefined, lane, handlers, route: lane.route(hook.name, modeOf(hook), handlers.map(stepOf)) };
}

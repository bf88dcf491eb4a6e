/** Trusted side: handlers in a row that live in one lane, with the route the lane knows them by. Worked out once per plan. */
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Route } from "../../protocol/messages.ts";
import type { LaneClient } from "../lanes/lane-client.ts";
import type { Handler, Plan } from "../registry.ts";

export interface Segment {
  readonly lane: LaneClient;
  readonly route: Route;
  readonly handlers: readonly Handler[];
  /** The route of one handler alone. */
  alone(at: number): Route;
}

const known = new WeakMap<Plan, readonly Segment[]>();

/** In order: for hooks whose handlers run one after the other. */
export function segmentsOf(hook: AnyHook, plan: Plan): readonly Segment[] {
  return remembered(plan, () => {
    const rows: Handler[][] = [];
    for (const handler of plan) {
      const row = rows.at(-1);
      if (row?.[0]!.lane === handler.lane) row.push(handler);
      else rows.push([handler]);
    }
    return rows.map((handlers) => segment(hook, hook.kind === "sync" ? "sync" : "chain", handlers));
  });
}

/** By lane: for hooks whose handlers run side by side. */
export function fansOf(hook: AnyHook, plan: Plan): readonly Segment[] {
  return remembered(plan, () => {
    const lanes = Map.groupBy(plan, ({ lane }) => lane);
    return Array.from(lanes.values(), (handlers) => segment(hook, hook.kind === "evaluate" ? "gather" : "fan", handlers));
  });
}

function remembered(plan: Plan, make: () => readonly Segment[]): readonly Segment[] {
  let segments = known.get(plan);
  if (!segments) known.set(plan, (segments = make()));
  return segments;
}

function segment(hook: AnyHook, mode: Route["mode"], handlers: readonly Handler[]): Segment {
  const { lane } = handlers[0]!;
  const route = (some: readonly Handler[]): Route =>
    lane.route(
      hook.name,
      mode,
      some.map(({ step }) => step),
    );
  return { lane, handlers, route: route(handlers), alone: (at) => route([handlers[at]!]) };
}

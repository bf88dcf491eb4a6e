/** Trusted side: everything that the runner of one run needs. */
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Asked } from "../../protocol/rules/merge.ts";
import type { Chain } from "../causality/causes.ts";
import type { Answers, StepAnswer } from "../supervisor/lane-client.ts";
import type { Handler, Plan } from "../plugins/registry.ts";
import type { RunCost } from "./run-cost.ts";
import type { Prepared } from "./prepare.ts";

export interface RunInput extends Prepared {
  readonly runId: string;
  /** The run's number: cells send it back with their requests and log lines. */
  readonly cause: number;
  readonly chain: Chain;
  readonly hook: AnyHook;
  /** When it began, by performance.now(), and how long it then waited for lazy plugins to load. */
  readonly startedMs: number;
  readonly activateMs: number;
  readonly plan: Plan;
  readonly failure: AnyHook["failure"];
  /** Every plugin's breaker is closed. */
  readonly allClosed: boolean;
  /** It was caused inside a run of the same hook; see HookDefinition.guardsNesting. */
  readonly isNested: boolean;
  /**
   * The answers, for audit/replay.ts once the run is over: of a sequential run those to the first hop, of a parallel run each handler's. Only
   * a reference, so keeping it costs nothing.
   */
  firstAnswers?: Answers | ReadonlyMap<Handler, StepAnswer> | undefined;
  /** What handlers want the user to approve, once all have answered. */
  asked?: Asked<Handler> | undefined;
  /** What made the run expensive for the gateway, and which plugin pays. */
  cost?: RunCost | undefined;
  /**
   * The later hops of a sequential run: `at` counts the calls before the hop, `from` is the place of the first answer that counts,
   * `sentMs` is when it was sent, by performance.now().
   */
  later?: { readonly answers: Answers; readonly at: number; readonly from: number; readonly sentMs: number }[] | undefined;
  /** The hops of a parallel run, with the time of their answers. */
  fanned?: { readonly answers: Answers; readonly handlers: readonly Handler[]; readonly endedMs: number | undefined }[] | undefined;
  /** When all handlers had answered and the user was asked, by performance.now(). */
  askedMs?: number | undefined;
}

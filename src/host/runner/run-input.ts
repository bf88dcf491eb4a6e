/** Trusted side: one run, as its runner gets it. */
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Chain } from "../causes.ts";
import type { Answers, StepAnswer } from "../lanes/lane-client.ts";
import type { Handler, Plan } from "../registry.ts";
import type { Prepared } from "./prepare.ts";

export interface RunInput extends Prepared {
  readonly runId: string;
  /** The run's number, which travels into the cells and back. */
  readonly cause: number;
  readonly chain: Chain;
  readonly hook: AnyHook;
  readonly plan: Plan;
  readonly failure: AnyHook["failure"];
  /** Every plugin's breaker is closed. */
  readonly isCalm: boolean;
  /** It was caused inside a run of the same hook; see HookDefinition.guardsNesting. */
  readonly isNested: boolean;
  /**
   * What was answered, for whoever wants to know it when the run is over (audit/replay.ts): of a walk the first hop's answers, of a fan each handler's. A place
   * for a reference, so that keeping it costs nothing.
   */
  heard?: Answers | ReadonlyMap<Handler, StepAnswer> | undefined;
  /** Of a walk, the hops after the first: `at` is how many calls were made before, `from` the place of the first answer that counts. */
  later?: { readonly answers: Answers; readonly at: number; readonly from: number }[] | undefined;
}

/** Trusted side: one run, as its runner gets it. */
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Chain } from "../causes.ts";
import type { Plan } from "../registry.ts";
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
}

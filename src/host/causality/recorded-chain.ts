/** Trusted side, pure: causal chains as facts and runs tell them. */
import type { RecordedChain } from "../../protocol/live-report.ts";
import type { RunInput } from "../run/run-input.ts";
import type { Chain } from "./causes.ts";

export function chainOf({ rootRunId, depth, path, runIds, by }: Chain): RecordedChain {
  return { rootRunId, depth, path, runIds, ...(by !== undefined && { by }) };
}

/** Of what a plugin does in, or because of, a run. */
export function chainAfter({ runId, hook, chain }: Pick<RunInput, "runId" | "hook" | "chain">, plugin: string): RecordedChain {
  const { rootRunId, depth, path, runIds } = chain;
  return { rootRunId, depth: depth + 1, path: [...path, `${plugin}:${hook.name}`], runIds: [...runIds, runId], by: plugin };
}

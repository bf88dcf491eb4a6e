/** Trusted side: the causal chain of work that waits in a database. */
import * as z from "zod";
import { LIMITS } from "../../protocol/limits.ts";
import type { Chain } from "./causes.ts";

export const storedChain = z.object({
  rootRunId: z.string(),
  depth: z.int().nonnegative(),
  path: z.array(z.string()),
  runIds: z.array(z.string()),
  by: z.string().optional(),
});

/**
 * Stored work continues the causal chain that made it, as a timer does. After a while it starts a new one, named `root`: a loop that
 * takes that long per round is no flood.
 */
export function chainOfStored(text: string | null, madeMs: number, nowMs: number, root: string): Chain {
  const isRecent = nowMs - madeMs < LIMITS.causality.causeTokenMs;
  const kept = text !== null && isRecent ? storedChain.safeParse(JSON.parse(text)) : undefined;
  if (kept?.success) return { ...kept.data, by: kept.data.by, client: undefined };
  return { rootRunId: root, depth: 0, path: [], runIds: [], by: undefined, client: undefined };
}

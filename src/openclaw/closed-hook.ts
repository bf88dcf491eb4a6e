/**
 * Trusted side: how a hook is kept shut in OpenClaw when its run fails and its failure policy is "closed". A handler that throws blocks
 * three gates only; everything else goes on, so the bridge, and the shim when the bridge is missing, answer what stops it.
 */
import { failurePolicy } from "../protocol/rules/failure-policy.ts";
import type { FailurePolicy } from "../protocol/rules/failure-policy.ts";
import type { Fields } from "./gateway-api.ts";
import { hookOf, isGate } from "./hook-names.ts";
import type { ShimHook } from "./shim-facts.ts";

export interface Closing {
  /** The hook that is answered: another one, where OpenClaw has nothing to block with. */
  readonly hook: string;
  /** Undefined: the handler throws. */
  readonly answer?: Fields;
  /** The field of the answer that says why. */
  readonly reason?: string;
  /** The answer is the event's message without its content. */
  readonly withholds?: true;
}

/** Before an agent's run begins. They cannot block anything themselves; `before_agent_run`, which comes after them, can. */
const BEFORE_RUN: ReadonlySet<string> = new Set([
  "before_model_resolve",
  "agent:bootstrap",
  "agent_turn_prepare",
  "heartbeat_prompt_contribution",
  "before_prompt_build",
  "before_agent_start",
  "beforeTurn",
]);
const RUN_GATE = "before_agent_run";
/** OpenClaw reads these of a claimed reply. */
const NOTHING_SENT = { queuedFinal: false, counts: { tool: 0, block: 0, final: 0 } } as const;
/** Of a tool's result: what OpenClaw needs to file it. */
const FILED_BY = ["role", "toolCallId", "toolName", "isError", "timestamp"] as const;

/** Undefined: OpenClaw has no way to stop at this hook. */
export function closingOf(key: string): Closing | undefined {
  if (BEFORE_RUN.has(key)) return { hook: RUN_GATE };
  if (isGate(key)) return { hook: key };
  if (key === "tool_result_persist") return { hook: key, withholds: true };
  if (key === "skill_proposal_evaluate") return { hook: key, answer: { decision: "block" }, reason: "decisionReason" };
  const terminal = hookOf(key)?.terminal;
  if (!terminal) return undefined;
  const { field, equals = true, reason } = terminal;
  return {
    hook: key,
    answer: { [field]: equals, ...(key === "reply_dispatch" && NOTHING_SENT) },
    ...(reason !== undefined && { reason }),
  };
}

/** Must nothing pass this hook without its handler? A hook that can end a turn must not be missed either, whatever its failures mean. */
export function isShut({ hook, failure }: Pick<ShimHook, "hook" | "failure">): boolean {
  return failure === "closed" || isGate(hook) || hook === "beforeTurn";
}

/** What a failure of the hook's handlers means: one of Creel's catalog, or a family of events, which decide nothing. */
export function policyOf(key: string, isRequired: boolean, override?: FailurePolicy): FailurePolicy {
  const hook = hookOf(key);
  return hook ? failurePolicy(hook, isRequired, override) : "open";
}

/** Throws where OpenClaw takes that for a block. */
export function closedAnswer({ answer, reason, withholds }: Closing, event: Fields, why: string): Fields {
  if (withholds) return { message: withheld(event.message, why) };
  if (!answer) throw new Error(why);
  return reason === undefined ? answer : { ...answer, [reason]: why };
}

/** A tool's result that nobody could look at before it is kept: only that there was one. */
function withheld(message: unknown, why: string): Fields {
  const given = Object(message) as Fields;
  const filed = Object.fromEntries(FILED_BY.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
  return { ...filed, content: [{ type: "text", text: why }] };
}

/** What the shim registers when it cannot reach Creel. `keeps`: the names of the fields that stay of a withheld message. */
export type ShimGate = Closing & { readonly priority: number; readonly keeps?: readonly string[] };

export function shimGatesOf(hooks: readonly ShimHook[]): ShimGate[] {
  const all = hooks.filter(isShut).flatMap(({ hook, priority }): ShimGate[] => {
    const closing = closingOf(hook);
    return closing ? [{ ...closing, priority, ...(closing.withholds && { keeps: FILED_BY }) }] : [];
  });
  return [...new Map(all.map((one) => [`${one.hook} ${one.priority}`, one])).values()];
}

/** Hooks of a plugin whose failure OpenClaw passes over, although nothing may pass them. */
export function unclosable(hooks: readonly Pick<ShimHook, "hook" | "failure">[]): string[] {
  return [...new Set(hooks.filter((one) => isShut(one) && !closingOf(one.hook)).map(({ hook }) => hook))];
}

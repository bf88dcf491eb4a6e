/** What a failing handler means, in words for people. The catalog has the policies; this chooses among their texts. */
import type { AnyHook } from "../hooks/define.ts";

export type FailurePolicy = AnyHook["failure"];

const DEFAULT = { open: "its answer is missing", closed: "the operation is blocked" } as const;

/** The policy of one plugin's handlers. `override` is the operator's policy for the hook. */
export function failurePolicy(hook: AnyHook, isRequired: boolean, override?: FailurePolicy): FailurePolicy {
  if (hook.kind === "observe") return "open";
  if (isRequired) return "closed";
  const policy = override ?? hook.failure;
  return policy === "closed" && !hook.terminal ? "open" : policy;
}

export function ifItFails(hook: AnyHook, policy: FailurePolicy): string {
  if (hook.kind === "observe") return "nothing is blocked, and it misses the event";
  return (hook.ifItFails ?? DEFAULT)[policy];
}

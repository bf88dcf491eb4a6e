/**
 * Trusted side: the digest of what a person sees when they answer: the tool and its parameters as they would run. An answer names
 * it, so that it can never count for anything else than what was on the screen.
 */
import { createHash } from "node:crypto";

export function digestOf(toolName: string, params: unknown): string {
  return createHash("sha256")
    .update(canonicalJson([toolName, params]))
    .digest("hex");
}

/** The same text for equal values, whatever the order of their keys. Throws for what is nested too deep. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner) ? sorted(inner as Record<string, unknown>) : inner,
  );
}

function sorted(fields: Record<string, unknown>): Record<string, unknown> {
  // No prototype: a parameter may be named __proto__.
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(fields).toSorted()) copy[key] = fields[key];
  return copy;
}

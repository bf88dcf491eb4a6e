/** Trusted side, pure: JSON by which values can be compared. */

/** The same text for equal values, whatever the order of their keys. Throws for what is nested too deep. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner) ? sorted(inner as Record<string, unknown>) : inner,
  );
}

function sorted(fields: Record<string, unknown>): Record<string, unknown> {
  // No prototype: a field may be named __proto__.
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(fields).toSorted()) copy[key] = fields[key];
  return copy;
}

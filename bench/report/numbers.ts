/** Numbers as the report writes them: three digits, thin enough to be compared in a column. */

export function short(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return Number(value.toPrecision(2)).toString();
}

/** A ratio, or a number of something. */
export function amount(value: number, unit = "×"): string {
  return `${short(value)} ${unit}`;
}

/** With its unit, in one that needs no more than three digits before the point. */
export function quantity(value: number, unit: string): string {
  if (unit === "µs" && value >= 10_000) return quantity(value / 1000, "ms");
  return unit === "ms" && value >= 10_000 ? `${short(value / 1000)} s` : `${short(value)} ${unit}`;
}

/** Numbers as the report writes them: three digits, thin enough to be compared in a column. */

export function short(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return Number(value.toPrecision(2)).toString();
}

/** A ratio of a hundred needs no hundredths. */
export function times(value: number): string {
  return `${short(value)} ×`;
}

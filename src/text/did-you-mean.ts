/** The nearest known name to a misspelt one, as the end of an error message; empty if nothing is near. */
export function suggest(name: string, known: readonly string[]): string {
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (!best || distance < best.distance) best = { name: candidate, distance };
  }
  // At least one character must be the same: "b" is no "a" that was misspelt.
  const most = best && Math.min(Math.max(2, Math.floor(best.name.length / 4)), name.length - 1);
  return best && best.distance <= most! ? `; did you mean "${best.name}"?` : "";
}

/** The known name that is one letter away, or written in another case; undefined: there is none. Not for a name that is known. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  return name.length < 4 ? undefined : known.find((candidate) => editDistance(name.toLowerCase(), candidate.toLowerCase()) <= 1);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

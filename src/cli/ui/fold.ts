/** Diagnostics that say the same about different names, as one with a count. */

/** What differs between diagnostics of one kind: a member of the api, or a quoted name. */
const NAME = /\bapi(?:\.\w+)+|"[^"]*"/g;

export function folded(diagnostics: readonly string[]): string[] {
  const kinds = new Map<string, { readonly first: string; readonly names: Set<string> }>();
  for (const one of diagnostics) {
    const kind = one.replaceAll(NAME, "…");
    const known = kinds.get(kind) ?? { first: one, names: new Set<string>() };
    kinds.set(kind, known);
    known.names.add(one.match(NAME)?.join(" ") ?? one);
  }
  return Array.from(kinds.values(), ({ first, names }) => {
    if (names.size === 1) return first;
    const others = [...names].slice(1);
    const listed = others.slice(0, 3).join(", ");
    return `${first} (and the same of ${others.length} more: ${listed}${others.length > 3 ? ", …" : ""})`;
  });
}

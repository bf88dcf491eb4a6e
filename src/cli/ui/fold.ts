/** Remarks that say the same about different names, as one remark with a count. */

/** What differs between remarks of one kind: a member of the api, or a quoted name. */
const NAME = /\bapi(?:\.\w+)+|"[^"]*"/g;

export function folded(remarks: readonly string[]): string[] {
  const kinds = new Map<string, { readonly first: string; readonly names: Set<string> }>();
  for (const remark of remarks) {
    const kind = remark.replaceAll(NAME, "…");
    const known = kinds.get(kind) ?? { first: remark, names: new Set<string>() };
    kinds.set(kind, known);
    known.names.add(remark.match(NAME)?.join(" ") ?? remark);
  }
  return Array.from(kinds.values(), ({ first, names }) => {
    if (names.size === 1) return first;
    const others = [...names].slice(1);
    const listed = others.slice(0, 3).join(", ");
    return `${first} (and the same of ${others.length} more: ${listed}${others.length > 3 ? ", …" : ""})`;
  });
}

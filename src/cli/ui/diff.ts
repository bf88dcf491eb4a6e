/** What changed between two texts, for a person: the same at both ends, and one piece in the middle that differs. */
export interface Difference {
  readonly head: string;
  readonly removed: string;
  readonly added: string;
  readonly tail: string;
}

export function difference(before: string, after: string): Difference {
  const from = before.split(/(?<=\s)/);
  const to = after.split(/(?<=\s)/);
  const most = Math.min(from.length, to.length);
  let head = 0;
  while (head < most && from[head] === to[head]) head += 1;
  let tail = 0;
  while (tail < most - head && from.at(-1 - tail) === to.at(-1 - tail)) tail += 1;
  return {
    head: from.slice(0, head).join(""),
    removed: from.slice(head, from.length - tail).join(""),
    added: to.slice(head, to.length - tail).join(""),
    tail: from.slice(from.length - tail).join(""),
  };
}

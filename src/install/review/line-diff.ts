/**
 * The lines that differ between two texts (Myers' algorithm). Bounded, because a plugin's text must not keep the CLI
 * busy: past the bound, everything between the first and the last difference counts as replaced. Deterministic.
 */
import { LIMITS } from "../../protocol/limits.ts";

export interface LineChange {
  readonly sign: "+" | "-";
  /** Its number in its own text, from 0. */
  readonly line: number;
}

export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** In the order of a diff: removed lines before the lines added in their place. */
export function lineDiff(before: readonly string[], after: readonly string[]): LineChange[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const from = before.slice(head, before.length - tail);
  const to = after.slice(head, after.length - tail);
  return shortest(from, to).map(({ sign, line }) => ({ sign, line: line + head }));
}

function shortest(from: readonly string[], to: readonly string[]): LineChange[] {
  const [n, m] = [from.length, to.length];
  const bound = Math.min(n + m, LIMITS.install.diffEdits, Math.floor(LIMITS.install.diffSteps / Math.max(1, n + m)));
  const paths: Int32Array[] = [];
  let furthest = new Int32Array(2 * bound + 3);
  for (let d = 0; d <= bound; d += 1) {
    paths.push(furthest.slice());
    for (let k = -d; k <= d; k += 2) {
      const at = k + bound + 1;
      const isDown = k === -d || (k !== d && furthest[at - 1]! < furthest[at + 1]!);
      let x = isDown ? furthest[at + 1]! : furthest[at - 1]! + 1;
      while (x < n && x - k < m && x - k >= 0 && from[x] === to[x - k]) x += 1;
      furthest[at] = x;
      if (x >= n && x - k >= m) return inOrder(traced(paths, bound, n, m));
    }
  }
  return [...from.map((_, line): LineChange => ({ sign: "-", line })), ...to.map((_, line): LineChange => ({ sign: "+", line }))];
}

/** The way back, from the end to the beginning. */
function traced(paths: readonly Int32Array[], bound: number, n: number, m: number): LineChange[] {
  const changes: LineChange[] = [];
  let [x, y] = [n, m];
  for (let d = paths.length - 1; d > 0; d -= 1) {
    const furthest = paths[d]!;
    const k = x - y;
    const at = k + bound + 1;
    const isDown = k === -d || (k !== d && furthest[at - 1]! < furthest[at + 1]!);
    const previousX = isDown ? furthest[at + 1]! : furthest[at - 1]!;
    const previousY = previousX - (isDown ? k + 1 : k - 1);
    changes.push(isDown ? { sign: "+", line: previousY } : { sign: "-", line: previousX });
    [x, y] = [previousX, previousY];
  }
  return changes.toReversed();
}

/** Sorts the lines of one hunk, removed ones first. */
function inOrder(changes: readonly LineChange[]): LineChange[] {
  const sorted: LineChange[] = [];
  let removed: LineChange[] = [];
  let added: LineChange[] = [];
  const flush = (): void => {
    sorted.push(...removed, ...added);
    removed = [];
    added = [];
  };
  for (const change of changes) {
    const run = change.sign === "-" ? removed : added;
    const last = run.at(-1);
    if (last && change.line !== last.line + 1) flush();
    (change.sign === "-" ? removed : added).push(change);
  }
  flush();
  return sorted;
}

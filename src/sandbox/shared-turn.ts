/**
 * Untrusted side, lane thread: a turn that several calls of one handler share. Their answers come as mail, in their order; at most the last one that was begun
 * has none, and those behind it were not begun.
 */
import { MAIL } from "../protocol/mail.ts";
import type { MailItem } from "../protocol/mail.ts";

export interface SharedTurn {
  /** Answers to the first calls. */
  readonly answers: readonly MailItem[];
  /** How many calls were begun; undefined: it was not said. */
  readonly begun: number | undefined;
  /** What else was left. */
  readonly rest: readonly MailItem[];
}

/** What became of the calls with these numbers. The items come from inside a cell: answers out of turn count as other mail. */
export function readShared(items: readonly MailItem[], numbers: readonly number[]): SharedTurn {
  const answers: MailItem[] = [];
  const rest: MailItem[] = [];
  let begun: number | undefined;
  for (const item of items) {
    if (item.kind === MAIL.begun) begun = item.a;
    else if (isAnswer(item) && item.call === numbers[answers.length]) answers.push(item);
    else rest.push(item);
  }
  const isSane = begun !== undefined && begun > 0 && begun <= numbers.length && begun >= answers.length;
  return { answers, begun: isSane ? begun : undefined, rest };
}

/** The guest ends such a turn when its clock ticks: all calls but the last took less than this between them. */
const TICK_MS = 1;

/** What one of so many calls took of such a turn, in milliseconds. */
export function shareOf(tookMs: number, calls: number, isLast: boolean): number {
  const each = Math.min(tookMs, TICK_MS) / calls;
  return isLast ? tookMs - each * (calls - 1) : each;
}

function isAnswer({ kind }: MailItem): boolean {
  return kind === MAIL.result || kind === MAIL.nothing || kind === MAIL.error;
}

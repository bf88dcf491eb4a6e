/**
 * Untrusted side, lane thread: a batch is several calls of one handler in a single turn, because entering a cell costs
 * as much as a quick handler takes. The answers come as mail, in the order of the calls. The guest stops at the first
 * call that does not answer at once: that call may be pending, and the calls behind it were not begun.
 */
import type { CallRequest } from "../../../transport/call-frames.ts";
import { turnMs } from "../../../protocol/limits.ts";
import type { Step } from "../../../protocol/messages/host-lane.ts";
import { callNumber, MAIL, readMail } from "../../../protocol/messages/mail.ts";
import type { MailItem } from "../../../protocol/messages/mail.ts";
import { boundedError, resultOf } from "../answer.ts";
import type { Answer } from "../answer.ts";
import { NEW_CALL, outOfCpu, UNUSABLE } from "./calls.ts";
import type { Caller, PendingCall } from "./calls.ts";
import type { TurnEnd } from "./cell.ts";
import type { CellTurns } from "./cell-turns.ts";

/**
 * Calls a handler for several runs in one turn. Gives how many calls were begun: the others must be called as usual.
 */
export function callBatch(turns: CellTurns, callers: readonly Caller[], runs: readonly CallRequest[], step: Step): number {
  const { calls, mail, meter, spec, status } = turns;
  const [, handler, wallMs, cpuMs] = step;
  turns.cpuMs = cpuMs;
  const numbers = runs.map(({ cause }) => callNumber(cause, handler));
  const args = runs.flatMap(({ event, context }, at) => [numbers[at]!, event, context]);
  meter.begin();
  status.attribute(callers[0]!.run, 0);
  const end = turns.cell!.batch(args, Math.min(wallMs, turnMs(cpuMs, status.cpuPressure)));
  const cpuUs = meter.end();
  turns.mayHaveMail = true;
  const { answers, begun, rest } = mailOf(turns, end, numbers);
  // If the cell does not say how many calls were begun, all of them ended with the cell.
  const count = begun ?? callers.length;
  const isStopped = begun === undefined || (end.end !== "result" && end.end !== "rejection");
  // The last call that was begun is responsible for a turn that had to be stopped, even if it has answered.
  const settled = isStopped ? Math.min(answers.length, count - 1) : answers.length;
  const open: PendingCall[] = [];
  for (let at = 0; at < count; at++) {
    const isLast = at === count - 1;
    callers[at]!.batch = count;
    const cost = { wallMs: shareOf(meter.tookMs, count, isLast), cpuUs: Math.round(shareOf(cpuUs / 1000, count, isLast) * 1000) };
    if (at < settled) callers[at]!.settle(0, answerOf(answers[at]!, cost, cpuMs, spec.limits.bytesOut));
    else open.push({ number: numbers[at]!, caller: callers[at]!, at: 0, step, startedMs: meter.startedMs, ...NEW_CALL, cpuUs: cost.cpuUs });
  }
  if (!meter.isQuick || open.length > 0 || rest.length > 0) turns.batchableTurns = 0;
  for (const call of open) calls.add(call);
  if (isStopped) {
    mail.logLinesOf(rest);
    if (end.end === "result" || end.end === "rejection") turns.replace("crashed", UNUSABLE, open[0]);
    else turns.afterTurn(end, cpuMs, cpuUs, begun === undefined ? open[0] : open.at(-1));
    return count;
  }
  if (end.end === "rejection") turns.rejected(end.detail, numbers[count - 1]!);
  for (const item of rest) mail.deliver(item);
  // The last call may be pending, and its answer may be in the mail already.
  const pending = open[0];
  if (pending) turns.fetchMail();
  if (pending && calls.get(pending.number)) turns.await(pending);
  return count;
}

export interface BatchMail {
  /** Answers to the first calls. */
  readonly answers: readonly MailItem[];
  /** How many calls were begun; undefined: the cell did not say. */
  readonly begun: number | undefined;
  readonly rest: readonly MailItem[];
}

function mailOf(turns: CellTurns, end: TurnEnd, numbers: readonly number[]): BatchMail {
  const text = end.end === "result" ? end.text : turns.cell!.drainMail(true).text;
  try {
    return readBatch(readMail(text ?? "\n"), numbers);
  } catch {
    return readBatch([], numbers);
  }
}

/**
 * Finds the answers to the calls with these numbers. The items come from inside a cell: answers out of order count as
 * other mail.
 */
export function readBatch(items: readonly MailItem[], numbers: readonly number[]): BatchMail {
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

/** The guest ends a batch when its clock ticks, so all calls but the last took less than this together. */
const TICK_MS = 1;

/** How much of a batch's time one of its calls is charged, in milliseconds. */
export function shareOf(tookMs: number, calls: number, isLast: boolean): number {
  const each = Math.min(tookMs, TICK_MS) / calls;
  return isLast ? tookMs - each * (calls - 1) : each;
}

function isAnswer({ kind }: MailItem): boolean {
  return kind === MAIL.result || kind === MAIL.nothing || kind === MAIL.error;
}

function answerOf({ kind, body }: MailItem, cost: { wallMs: number; cpuUs: number }, cpuMs: number, bytesOut: number): Answer {
  if (cost.cpuUs > cpuMs * 1000) return { status: "cpu", ...cost, body: outOfCpu(cpuMs) };
  return kind === MAIL.error
    ? { status: "failed", ...cost, body: boundedError(body.slice(1)) }
    : resultOf(body, cost.wallMs, cost.cpuUs, bytesOut);
}

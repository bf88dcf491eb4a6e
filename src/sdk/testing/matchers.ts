/**
 * Trusted side, in an author's test: what an outcome should be, in words. `expect.extend(creelMatchers)` for vitest and
 * Jest; `expectOutcome(outcome).toBlock()` for node:test and any other runner.
 */
import { AssertionError } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import type { Outcome } from "../../protocol/outcome.ts";

interface Matched {
  readonly pass: boolean;
  /** Of what was not so: also with `.not`. */
  readonly message: () => string;
}

/** Text that is contained, or a pattern that matches. */
type Pattern = string | RegExp;

export interface Budget {
  readonly cpuMs?: number;
  readonly wallMs?: number;
}

export const creelMatchers = {
  /** The run was blocked, by this reason. */
  toBlock(outcome: Outcome, reason?: Pattern): Matched {
    const isBlocked = outcome.decision !== "pass" && outcome.calls.every(({ error }) => !error);
    const pass = isBlocked && (reason === undefined || matches(outcome.reason ?? "", reason));
    return told(pass, outcome, `block${reason === undefined ? "" : ` because of ${String(reason)}`}`);
  },
  /** The event was rewritten: the result has these fields, with these values. Without fields: any rewrite. */
  toRewrite(outcome: Outcome, fields?: Readonly<Record<string, unknown>>): Matched {
    const result = (outcome.result ?? {}) as Record<string, unknown>;
    const pass =
      outcome.decision === "pass" &&
      (fields === undefined
        ? Object.keys(result).length > 0
        : Object.entries(fields).every(([name, value]) => isDeepStrictEqual(result[name], value)));
    return told(pass, outcome, `rewrite${fields === undefined ? "" : ` to ${JSON.stringify(fields)}`}`);
  },
  /** A plugin asked the user, with this title. */
  toAskApproval(outcome: Outcome, title?: Pattern): Matched {
    const requests = outcome.approval?.requests ?? [];
    const pass = requests.some((request) => title === undefined || matches(request.title, title));
    return told(pass, outcome, `ask for approval${title === undefined ? "" : ` of ${String(title)}`}`);
  },
  /** Every call has answered, within these milliseconds. */
  toStayWithin(outcome: Outcome, { cpuMs = Infinity, wallMs = Infinity }: Budget): Matched {
    const pass = outcome.calls.every((call) => !call.error && call.cpuMs <= cpuMs && call.wallMs <= wallMs);
    return told(pass, outcome, `stay within ${JSON.stringify({ cpuMs, wallMs })}`);
  },
};

/** What `expect(outcome)` has after `expect.extend(creelMatchers)`, for the types of your test runner. */
export interface CreelMatchers<R = unknown> {
  toBlock(reason?: Pattern): R;
  toRewrite(fields?: Readonly<Record<string, unknown>>): R;
  toAskApproval(title?: Pattern): R;
  toStayWithin(budget: Budget): R;
}

export interface OutcomeExpectation extends CreelMatchers<void> {
  /** The opposite. */
  readonly not: CreelMatchers<void>;
}

/** For any test runner: throws an AssertionError that shows the outcome. */
export function expectOutcome(outcome: Outcome): OutcomeExpectation {
  return { ...expectation(outcome, true), not: expectation(outcome, false) };
}

function expectation(outcome: Outcome, isWanted: boolean): CreelMatchers<void> {
  const check = ({ pass, message }: Matched): void => {
    if (pass !== isWanted) throw new AssertionError({ message: message(), actual: outcome.decision });
  };
  return {
    toBlock: (reason) => check(creelMatchers.toBlock(outcome, reason)),
    toRewrite: (fields) => check(creelMatchers.toRewrite(outcome, fields)),
    toAskApproval: (title) => check(creelMatchers.toAskApproval(outcome, title)),
    toStayWithin: (budget) => check(creelMatchers.toStayWithin(outcome, budget)),
  };
}

/**
 * An outcome without what differs from run to run: its id, times, and stacks. For snapshots:
 * `expect(snapshotOf(outcome)).toMatchSnapshot()`.
 */
export function snapshotOf(outcome: Outcome): object {
  const { runId: _, calls, ...rest } = outcome;
  return {
    ...rest,
    calls: calls.map(({ plugin, priority, status, error, ignored }) => ({
      plugin,
      priority,
      status,
      ...(error && { error: { code: error.code, message: error.message, ...(error.at !== undefined && { at: error.at }) } }),
      ...(ignored && { ignored }),
    })),
  };
}

function told(pass: boolean, outcome: Outcome, what: string): Matched {
  return {
    pass,
    message: () => `expected the run ${pass ? "not " : ""}to ${what}; its outcome is\n${JSON.stringify(snapshotOf(outcome), undefined, 2)}`,
  };
}

function matches(text: string, pattern: Pattern): boolean {
  return typeof pattern === "string" ? text.includes(pattern) : new RegExp(pattern, pattern.flags.replaceAll(/[gy]/g, "")).test(text);
}

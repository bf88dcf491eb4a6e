/** Trusted side, in an author's test: the gateway that a plugin talks to. Sessions live in memory, approvals are answered by the test. */
import type { ApprovalDecision, ApprovalQuestion } from "../host/approvals.ts";
import type { SessionEntry, SessionPatch } from "../host/services/session.ts";
import type { Mistakes } from "./testing-mistakes.ts";

export class HarnessSessions {
  /** What was patched, in order, by the plugin or through `harness.host`. */
  readonly patches: SessionPatch[] = [];
  readonly #entries = new Map<string, SessionEntry>();

  /** Makes a session, or another of it. */
  set(key: string, entry: SessionEntry): void {
    this.#entries.set(key, structuredClone(entry));
  }

  get(key: string): SessionEntry | undefined {
    return structuredClone(this.#entries.get(key));
  }

  /** As gateways do it: a field that is null goes back to its default. A session that is not there is made. */
  patch(patch: SessionPatch): SessionEntry {
    const { key, ...fields } = patch;
    this.patches.push(patch);
    const entry = { ...this.#entries.get(key), ...fields };
    this.set(key, Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null)));
    return this.get(key)!;
  }
}

/** Null: the user does not answer, and the time is over. Undefined: there is nobody to ask. */
export type HarnessDecision = ApprovalDecision | null | undefined;
export type HarnessApprover = (question: ApprovalQuestion) => HarnessDecision | Promise<HarnessDecision>;

export class HarnessApprovals {
  /** What was asked, in order. */
  readonly questions: ApprovalQuestion[] = [];
  readonly #mistakes: Mistakes;
  #approver: HarnessApprover = () => undefined;

  constructor(mistakes: Mistakes) {
    this.#mistakes = mistakes;
  }

  /** From now on. Before the first answer there is nobody to ask, and a call that needs approval is blocked. */
  answer(answer: HarnessDecision | HarnessApprover): void {
    this.#approver = typeof answer === "function" ? answer : () => answer;
  }

  async ask(question: ApprovalQuestion): Promise<HarnessDecision> {
    this.questions.push(question);
    try {
      return await this.#approver(question);
    } catch (error) {
      this.#mistakes.note(error);
      throw error;
    }
  }
}

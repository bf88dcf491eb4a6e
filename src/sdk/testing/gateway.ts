/** Trusted side, in an author's test: the gateway that a plugin talks to. Sessions live in memory; the test answers approvals. */
import type { ApprovalAnswer } from "../../host/run/approvals/approvals.ts";
import type { ApprovalQuestion } from "../../host/run/approvals/question.ts";
import type { SessionEntry, SessionPatch } from "../../host/services/session/session.ts";
import type { Mistakes } from "./mistakes.ts";

export class HarnessSessions {
  /** The patches, in order, by the plugin or through `harness.host`. */
  readonly patches: SessionPatch[] = [];
  readonly #entries = new Map<string, SessionEntry>();

  /** Creates or replaces a session. */
  set(key: string, entry: SessionEntry): void {
    this.#entries.set(key, structuredClone(entry));
  }

  get(key: string): SessionEntry | undefined {
    return structuredClone(this.#entries.get(key));
  }

  /** As gateways do it: a field that is null goes back to its default. A missing session is created. */
  patch(patch: SessionPatch): SessionEntry {
    const { key, ...fields } = patch;
    this.patches.push(patch);
    const entry = { ...this.#entries.get(key), ...fields };
    this.set(key, Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null)));
    return this.get(key)!;
  }
}

/** Null: the user does not answer in time. Undefined: there is no user to ask. */
export type HarnessDecision = ApprovalAnswer;
export type HarnessApprover = (question: ApprovalQuestion) => HarnessDecision | Promise<HarnessDecision>;

export class HarnessApprovals {
  /** The questions, in order. */
  readonly questions: ApprovalQuestion[] = [];
  readonly #mistakes: Mistakes;
  #approver: HarnessApprover = () => undefined;

  constructor(mistakes: Mistakes) {
    this.#mistakes = mistakes;
  }

  /** Sets the answer from now on. Before that there is no user to ask, and a call that needs approval is blocked. */
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

/** Questions of plugins that wait for the person at the page. */
import type { ApprovalDecision, ApprovalQuestion } from "creel";
import type { Feed } from "./feed.ts";

export class Approvals {
  readonly #feed: Feed;
  readonly #waiting = new Map<string, (decision: ApprovalDecision) => void>();

  constructor(feed: Feed) {
    this.#feed = feed;
  }

  /** Null: nobody answered. */
  ask({ runId, pluginId, title, description }: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalDecision | null> {
    return new Promise((resolve) => {
      this.#waiting.set(runId, resolve);
      this.#feed.say({ kind: "approval", id: runId, text: `${pluginId} asks: ${title}. ${description}` });
      signal.addEventListener("abort", () => {
        this.#waiting.delete(runId);
        resolve(null);
      });
    });
  }

  /** False: that question is not open any more. */
  answer(id: string, isAllowed: boolean): boolean {
    const resolve = this.#waiting.get(id);
    if (!resolve) return false;
    this.#waiting.delete(id);
    this.#feed.say({ kind: "answered", id, text: isAllowed ? "you allowed it" : "you denied it" });
    resolve(isAllowed ? "allow-once" : "deny");
    return true;
  }
}

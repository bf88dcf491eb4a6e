/** Trusted side: the synchronous lines to all lanes, for `runSync`. Follows the supervisor when units are replaced. */
import { errorMessage } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { HopRequest } from "../../run/walk.ts";
import type { Supervisor } from "../supervisor.ts";
import { failure } from "../unit-loss.ts";
import { budgetOf } from "../lane-run.ts";
import type { Answers, LaneClient, RunRequest, StepAnswer } from "../lane-client.ts";
import { SyncLine } from "./sync-line.ts";

export class SyncLines {
  readonly #supervisor: Supervisor;
  readonly #lines = new Map<number, SyncLine>();
  #isOpen = false;

  readonly #longestTurnMs: (lane: LaneClient) => number;

  /** `longestTurnMs`: how long a turn of a neighbour in that lane may take. */
  constructor(supervisor: Supervisor, longestTurnMs: (lane: LaneClient) => number) {
    this.#supervisor = supervisor;
    this.#longestTurnMs = longestTurnMs;
  }

  /** Called whenever a plugin listens to a synchronous hook. Opens the lines once. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#supervisor.onUnit({
      came: (lane, port) => {
        if (!port) return;
        this.#supervisor.lanes[lane]!.post({ kind: "sync" });
        this.#lines.set(lane, new SyncLine(port));
      },
      went: (lane) => this.#lines.delete(lane),
    });
  }

  run({ lane, request }: HopRequest): Answers {
    const budgetMs = budgetOf(request) + LIMITS.sandbox.laneGraceMs;
    const startedMs = performance.now();
    const answers = this.#request(lane, request, budgetMs);
    if (!answers[request.from]) {
      const ms = Math.round(performance.now() - startedMs);
      answers[request.from] = { ...failure("timeout", "ERR_SANDBOX_STUCK", { ms }), wallUs: ms * 1000 };
    }
    return { steps: answers };
  }

  #request(lane: LaneClient, request: RunRequest, budgetMs: number): (StepAnswer | undefined)[] {
    try {
      const line = this.#lines.get(lane.index);
      if (!line || !lane.isReady) return died(request);
      // The lane reads this link after every turn, so at most it waits for one turn of a neighbour.
      const answers = line.run(request, budgetMs, () => Math.min(this.#longestTurnMs(lane), LIMITS.sync.neighbourMs));
      if (answers) return answers;
      this.#lines.delete(lane.index);
      return died(request);
    } catch (error) {
      this.#supervisor.replace(lane.index, errorMessage("ERR_SANDBOX_PROTOCOL", { detail: (error as Error).message }));
      const answers: (StepAnswer | undefined)[] = [];
      answers[request.from] = failure("crashed", "ERR_SANDBOX_PROTOCOL", { detail: (error as Error).message });
      return answers;
    }
  }
}

/** The unit is gone, and the caller does not wait for its replacement. */
function died({ from }: RunRequest): (StepAnswer | undefined)[] {
  const answers: (StepAnswer | undefined)[] = [];
  answers[from] = failure("crashed", "ERR_SANDBOX_DIED", { detail: "a replacement is being started" });
  return answers;
}

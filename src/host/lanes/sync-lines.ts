/** Trusted side: the way to every lane for a caller that blocks. Follows the fleet through restarts. */
import { errorMessage } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { HopRequest } from "../runner/walk.ts";
import type { Fleet } from "./fleet.ts";
import { failure } from "./death.ts";
import { budgetOf } from "./lane-client.ts";
import type { Answers, LaneClient, RunRequest, StepAnswer } from "./lane-client.ts";
import { SyncLine } from "./sync-line.ts";

export class SyncLines {
  readonly #fleet: Fleet;
  readonly #lines = new Map<number, SyncLine>();
  #isOpen = false;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Called when somebody listens to a synchronous hook; does its work once. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#fleet.onUnit({
      came: (lane, port) => {
        if (!port) return;
        this.#fleet.lanes[lane]!.post({ kind: "sync" });
        this.#lines.set(lane, new SyncLine(port));
      },
      went: (lane) => this.#lines.delete(lane),
    });
  }

  run({ lane, request }: HopRequest): Answers {
    const budgetMs = budgetOf(request) + LIMITS.laneGraceMs;
    const answers = this.#ask(lane, request, budgetMs);
    answers[request.from] ??= { ...failure("timeout", "ERR_SANDBOX_STUCK", { ms: budgetMs }), wallUs: budgetMs * 1000 };
    return { steps: answers };
  }

  #ask(lane: LaneClient, request: RunRequest, budgetMs: number): (StepAnswer | undefined)[] {
    try {
      const line = this.#lines.get(lane.index);
      if (!line || !lane.isReady) return died(request);
      const answers = line.run(request, budgetMs);
      if (answers) return answers;
      this.#lines.delete(lane.index);
      return died(request);
    } catch (error) {
      this.#fleet.condemn(lane.index, errorMessage("ERR_SANDBOX_PROTOCOL", { detail: (error as Error).message }));
      const answers: (StepAnswer | undefined)[] = [];
      answers[request.from] = failure("crashed", "ERR_SANDBOX_PROTOCOL", { detail: (error as Error).message });
      return answers;
    }
  }
}

/** Nobody is there to ask: the caller is not kept waiting for a replacement. */
function died({ from }: RunRequest): (StepAnswer | undefined)[] {
  const answers: (StepAnswer | undefined)[] = [];
  answers[from] = failure("crashed", "ERR_SANDBOX_DIED", { detail: "a replacement is being started" });
  return answers;
}

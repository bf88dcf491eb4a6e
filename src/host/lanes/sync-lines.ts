/** Trusted side: the way to every lane for a caller that blocks. Follows the fleet through restarts. */
import { errorMessage } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { HopRequest } from "../runner/walk.ts";
import type { Fleet } from "./fleet.ts";
import { failure } from "./death.ts";
import { budgetOf } from "./lane-client.ts";
import type { Answers, RunRequest, StepAnswer } from "./lane-client.ts";
import { SyncBridge } from "./sync-bridge.ts";
import { SyncLine } from "./sync-line.ts";

export class SyncLines {
  readonly #fleet: Fleet;
  readonly #lines = new Map<number, SyncLine>();
  #bridge: SyncBridge | undefined;
  #opening: Promise<unknown>[] | undefined;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Called when somebody listens to a synchronous hook; does its work once. */
  async open(): Promise<void> {
    if (!this.#opening) {
      this.#opening = [];
      this.#fleet.onUnit({
        came: (lane, sync) => {
          if (sync) this.#lines.set(lane, new SyncLine(sync));
          else this.#opening!.push(this.#dial(lane));
        },
        went: (lane) => this.#lines.delete(lane),
      });
    }
    await Promise.all(this.#opening);
  }

  run({ lane, request }: HopRequest): Answers {
    const budgetMs = budgetOf(request) + LIMITS.laneGraceMs;
    const answers = this.#ask(lane.index, request, budgetMs);
    answers[request.from] ??= { ...failure("timeout", "ERR_SANDBOX_STUCK", { ms: budgetMs }), wallUs: budgetMs * 1000 };
    return { steps: answers };
  }

  #ask(lane: number, request: RunRequest, budgetMs: number): (StepAnswer | undefined)[] {
    try {
      const line = this.#lines.get(lane);
      if (!line) return died(request);
      const answers = line.run(request, budgetMs);
      if (answers) return answers;
      this.#lines.delete(lane);
      return died(request);
    } catch (error) {
      this.#fleet.condemn(lane, errorMessage("ERR_SANDBOX_PROTOCOL", { detail: (error as Error).message }));
      const answers: (StepAnswer | undefined)[] = [];
      answers[request.from] = failure("crashed", "ERR_SANDBOX_PROTOCOL", { detail: (error as Error).message });
      return answers;
    }
  }

  async close(): Promise<void> {
    await this.#bridge?.close();
  }

  /** A lane in the sandbox process dials in through the bridge. */
  async #dial(lane: number): Promise<void> {
    this.#bridge ??= new SyncBridge();
    const { sync, invitation } = await this.#bridge.line(lane);
    this.#fleet.lanes[lane]!.post({ kind: "dial", ...invitation });
    this.#lines.set(lane, new SyncLine(sync));
  }
}

/** Nobody is there to ask: the caller is not kept waiting for a replacement. */
function died({ from }: RunRequest): (StepAnswer | undefined)[] {
  const answers: (StepAnswer | undefined)[] = [];
  answers[from] = failure("crashed", "ERR_SANDBOX_DIED", { detail: "a replacement is being started" });
  return answers;
}

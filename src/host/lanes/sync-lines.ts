/** Trusted side: the way to every lane for a caller that blocks. Follows the fleet through restarts. */
import { LIMITS } from "../../protocol/limits.ts";
import type { HopRequest } from "../runner/walk.ts";
import type { Fleet } from "./fleet.ts";
import { budgetOf, failure } from "./lane-client.ts";
import type { RunRequest, StepAnswer } from "./lane-client.ts";
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
      this.#fleet.onUnit((lane, sync) => {
        if (sync) this.#lines.set(lane, new SyncLine(sync));
        else this.#opening!.push(this.#dial(lane));
      });
    }
    await Promise.all(this.#opening);
  }

  run({ lane, request }: HopRequest): (StepAnswer | undefined)[] {
    const budgetMs = budgetOf(request) + LIMITS.laneGraceMs;
    const answers = this.#ask(lane.index, request, budgetMs);
    answers[request.from] ??= { ...failure("timeout", "ERR_SANDBOX_STUCK", { ms: budgetMs }), wallMs: budgetMs };
    return answers;
  }

  #ask(lane: number, request: RunRequest, budgetMs: number): (StepAnswer | undefined)[] {
    try {
      return this.#lines.get(lane)?.run(request, budgetMs) ?? [];
    } catch (error) {
      this.#fleet.condemn(lane);
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

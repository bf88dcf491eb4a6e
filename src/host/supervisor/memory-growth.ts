/**
 * Trusted side: finds the cell that made a sandbox process grow. The host measures the process from outside. Which
 * cells grew is reported by the lanes (sandbox/lane/cell/memory-growth.ts) and by the stall detector. A cell is named
 * only if it clearly explains the growth; otherwise none is.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { Grown, StalledTurn } from "../../protocol/messages/host-lane.ts";
import { failure } from "./unit-loss.ts";
import type { Culprit } from "./unit-loss.ts";

interface Share {
  readonly lane: number;
  readonly cell: number;
  readonly bytes: number;
}

export class Growth {
  /** Memory of the process at the last look, and when lanes began to report growth. */
  #lastBytes = 0;
  #tightBytes: number | undefined;
  readonly #reports = new Map<number, Grown>();

  /** Memory of the process now. True: from now on lanes have to report growth. */
  note(bytes: number, memoryBytes: number): boolean {
    this.#lastBytes = bytes;
    if (this.#tightBytes !== undefined || bytes < memoryBytes * LIMITS.sandbox.tightMemory) return false;
    this.#tightBytes = bytes;
    return true;
  }

  reported(growth: Grown): void {
    this.#reports.set(growth.lane, growth);
  }

  /**
   * The cell that explains the growth; undefined: no single cell does. `lasting`: turns that have not ended, and that
   * no lane has counted yet. `leastBytes`: what it must have taken at least, where the process was not seen above its limit.
   */
  culprit(bytes: number, lasting: readonly StalledTurn[], leastBytes = 0): { lane: number; culprit: Culprit } | undefined {
    const [first, second] = this.#shares(lasting).toSorted((a, b) => b.bytes - a.bytes);
    const grown = Math.max(bytes - (this.#tightBytes ?? this.#lastBytes), leastBytes / LIMITS.sandbox.growthShare);
    if (!first || first.bytes < grown * LIMITS.sandbox.growthShare || first.bytes < (second?.bytes ?? 0) * LIMITS.sandbox.growthLead)
      return undefined;
    const { lane, cell } = first;
    const turn = lasting.find((one) => one.lane === lane && one.cell === cell);
    const mb = Math.round(first.bytes / 2 ** 20);
    const answer = failure("memory", "ERR_CALL_PROCESS_MEMORY", { mb });
    return { lane, culprit: { cell, run: turn?.run ?? 0, step: turn?.step ?? 0, answer } };
  }

  #shares(lasting: readonly StalledTurn[]): Share[] {
    const shares: Share[] = [...this.#reports.values()].flatMap(({ lane, cell, bytes, others }) => [
      { lane, cell, bytes },
      // Counted as one cell, so that a named cell took more than all others together.
      { lane, cell: -1, bytes: others },
    ]);
    for (const { lane, cell, touchedBytes = 0 } of lasting) {
      const at = shares.findIndex((share) => share.lane === lane && share.cell === cell);
      if (at < 0) shares.push({ lane, cell, bytes: touchedBytes });
      else shares[at] = { lane, cell, bytes: shares[at]!.bytes + touchedBytes };
    }
    return shares;
  }
}

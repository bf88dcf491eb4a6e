/** A hostile program in the place of the sandbox process: the gateway goes on, its neighbours answer, and nobody is blamed for it. How much exactly it may grow and stand still is test/attacks/evil-child.ts' business. */
import { describe, expect, it } from "vitest";
import { MODES } from "../attacks/evil/modes.ts";
import { suffer } from "../attacks/evil/stage.ts";
import type { Felt } from "../attacks/evil/stage.ts";

const TIMEOUT = { timeout: 60_000 };

/** Generous: this process has its own garbage, and a busy machine. What was found took 2,500 MB and 10 s. The bounds are test/attacks/evil-child.ts'. */
const GROWN_MB = 256;
const STALL_CPU_MS = 500;

function expectNoHarm({ restarts, neighbour, grownMb, stallCpuMs }: Felt): void {
  expect(grownMb).toBeLessThan(GROWN_MB);
  expect(stallCpuMs).toBeLessThan(STALL_CPU_MS);
  expect(neighbour).toMatchObject({ wrong: 0, strikes: 0 });
  expect(neighbour.calls).toBeGreaterThan(0);
  expect(restarts.flatMap(({ culprit }) => culprit ?? [])).toEqual([]);
}

describe("a sandbox process that was taken over", () => {
  it.each(MODES)("%s has it replaced, in nobody's name, and harms nobody", TIMEOUT, async (mode) => {
    const felt = await suffer(mode, { seconds: 30, isUntilReplaced: true });
    expectNoHarm(felt);
    expect(felt.restarts[0]?.why).toContain("is not known");
  });
});

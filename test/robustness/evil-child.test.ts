/** A hostile program in the place of the sandbox process: the gateway goes on, its neighbours answer, and nobody is blamed for it. The bounds of memory and time are test/attacks/evil-child.ts' business. */
import { describe, expect, it } from "vitest";
import { MODES } from "../attacks/evil/modes.ts";
import type { Mode } from "../attacks/evil/modes.ts";
import { suffer } from "../attacks/evil/stage.ts";
import type { Felt } from "../attacks/evil/stage.ts";

const modesThatAre = (what: (typeof MODES)[Mode]): Mode[] => (Object.keys(MODES) as Mode[]).filter((mode) => MODES[mode] === what);
const TIMEOUT = { timeout: 60_000 };

function expectNoHarm({ restarts, neighbour }: Felt): void {
  expect(neighbour).toMatchObject({ wrong: 0, strikes: 0 });
  expect(neighbour.calls).toBeGreaterThan(0);
  expect(restarts.flatMap(({ culprit }) => culprit ?? [])).toEqual([]);
}

describe("a sandbox process that was taken over", () => {
  it.each(modesThatAre("refused"))("%s is its plugin's failure, and harms nobody", TIMEOUT, async (mode) => {
    const felt = await suffer(mode, 1);
    expectNoHarm(felt);
    expect(felt.calls.ok).toBeUndefined();
    expect(Object.keys(felt.calls).join()).toMatch(/failed ERR_CALL_RESULTS?_S/);
  });

  it.each(modesThatAre("replaced"))("%s has it replaced, in nobody's name, and harms nobody", TIMEOUT, async (mode) => {
    const felt = await suffer(mode, 30, true);
    expectNoHarm(felt);
    expect(felt.restarts[0]?.why).toContain("is not known");
  });
});

/** Who takes part in the bench gives the handler's answers; who does not is refused, not measured. Those that need no package but the project's own. */
import { describe, expect, it } from "vitest";
import { creel } from "../../bench/creel.ts";
import { bareFloor } from "../../bench/floors/bare.ts";
import { processFloor } from "../../bench/floors/process.ts";
import { threadFloor } from "../../bench/floors/thread.ts";
import { POLICY_GATE, promptOf } from "../../bench/handlers.ts";
import type { Work } from "../../bench/handlers.ts";
import { amongPresent, installed } from "../../bench/subjects/absent.ts";
import { agreeing } from "../../bench/subjects/agree.ts";
import { mainThreadIsolate } from "../../bench/subjects/main-thread-isolate.ts";
import { naive } from "../../bench/subjects/naive.ts";
import { spawned } from "../../bench/subjects/spawned.ts";
import { stdioChild } from "../../bench/subjects/stdio-child.ts";
import { contestant } from "../../src/cli/bench/contestant.ts";

/** One that passes, and the two that are rewritten and blocked: enough where each call is a process. */
const SHORT = { ...POLICY_GATE, events: [0, 7, 15].map((at) => POLICY_GATE.events[at]!) };

describe("a contestant gives the handler's answers", () => {
  it.each([
    ["creel, thread", POLICY_GATE, (work: Work) => creel(work, { isolation: "thread" })],
    ["a bare isolate", POLICY_GATE, (work: Work) => bareFloor(work, { encodes: true })],
    ["a worker", POLICY_GATE, threadFloor],
    ["a child with a socket", POLICY_GATE, processFloor],
    ["the naive way", POLICY_GATE, naive],
    ["an isolate from the main thread", POLICY_GATE, mainThreadIsolate],
    ["a child over stdio", POLICY_GATE, stdioChild],
    ["a process per hook", SHORT, spawned],
  ])("%s", async (_, work, open) => {
    await using one = await agreeing(work, await open(work));
    expect(one.name).not.toBe("");
  });

  it("or it is refused", async () => {
    const quick = contestant("quick and wrong", () => undefined);
    await expect(agreeing(POLICY_GATE, quick)).rejects.toThrow('quick and wrong answers undefined and not {"params":');
  });
});

it("what is not installed is absent, with a reason, and the others take part", async () => {
  const present = await amongPresent(
    { here: () => contestant("here", () => undefined), gone: async () => await installed<never>("no-such-package-of-the-bench") },
    async ({ contestants, absent, indexOf }) => ({
      names: contestants.map(({ name }) => name),
      absent,
      places: [indexOf("here"), indexOf("gone")],
    }),
  );
  expect(present).toMatchObject({ names: ["here"], places: [0, undefined], absent: [{ name: "gone" }] });
  expect(present.absent[0]!.why).toContain("no-such-package-of-the-bench is not installed");
});

it.each([1, 100, 1024])("a prompt of %i KB has as many messages as that takes", (kb) => {
  const bytes = JSON.stringify(promptOf(kb * 1024).events[0]).length;
  expect(bytes / (kb * 1024)).toBeGreaterThan(0.95);
  expect(bytes / (kb * 1024)).toBeLessThan(1.1);
});

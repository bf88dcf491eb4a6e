/** A hop keeps what it costs bounded and charged: a lane must not be held by what it does between two handlers. */
import { expect, it } from "vitest";
import { CATALOG } from "creel";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { chainRule } from "../../../src/protocol/rules/chain-rule.ts";
import type { Route } from "../../../src/protocol/messages/host-lane.ts";
import { readReply } from "../../../src/transport/call-frames.ts";
import type { StepReply } from "../../../src/transport/call-frames.ts";
import { answered } from "../../../src/sandbox/lane/answer.ts";
import type { Slot } from "../../../src/sandbox/lane/cell/slot-lane.ts";
import { Hop, laneRoute } from "../../../src/sandbox/lane/hop.ts";
import type { HopLane } from "../../../src/sandbox/lane/hop.ts";

/** Plays the lane: every cell answers at once with the next of `bodies`. Notes in order what the hop does. */
function played(mode: Route["mode"], cells: readonly number[], bodies: readonly string[], event: object, gone: readonly number[] = []) {
  const did: string[] = [];
  const replies: StepReply[] = [];
  const left = [...bodies];
  let isLong = false;
  let resume: (() => void) | undefined;
  const slot = (cell: number) =>
    ({
      isQuick: true,
      call: (_caller: unknown, at: number, _step: unknown, text: string) => {
        did.push(`${cell} runs step ${at} with ${text.length > 1_000 ? "a long event" : text}`);
        return answered("ok", left.shift() ?? "");
      },
      chargeSince: () => {
        did.push(`${cell} is charged`);
        isLong = true;
      },
    }) as unknown as Slot;
  const lane: HopLane = {
    isSync: false,
    slot: (cell) => (gone.includes(cell) ? undefined : slot(cell)),
    reply: (_, frame, isLast) => {
      const { steps } = readReply(frame);
      replies.push(...steps);
      did.push(isLast ? "the last reply" : "a reply");
    },
    flush: () => {},
    mustYield: () => isLong && mode !== "sync",
    mustReturn: () => isLong && mode === "sync",
    yield: (go) => {
      did.push("yields");
      isLong = false;
      resume = go;
    },
  };
  const steps = cells.map((cell) => [cell, 0, 1_000, 100, 1_024 * 1_024] as const);
  const route = laneRoute({ kind: "route", route: 1, hook: "message_sending", mode, steps }, chainRule(CATALOG.message_sending));
  const request = { id: 1, cause: 1, route: 1, from: 0, chains: true, spentMs: 0, event: JSON.stringify(event), context: "{}" };
  new Hop(lane, route, request).start();
  for (let turns = 0; resume && turns < 10; turns++) {
    const go = resume;
    resume = undefined;
    go();
  }
  return { did, replies };
}

const rewrite = (content: string): string => JSON.stringify({ content });

it("a chain goes back to the host before a handler whose cell is gone, and fails only where the host sent it", () => {
  const { did, replies } = played("chain", [1, 2, 3], [rewrite("a")], { content: "x" }, [2]);
  expect(did).toEqual([`1 runs step 0 with {"content":"x"}`, "the last reply"]);
  expect(replies.map(({ step, status }) => [step, status])).toEqual([[0, "ok"]]);
  expect(played("chain", [2, 3], [], { content: "x" }, [2]).replies).toMatchObject([{ step: 0, status: "failed" }]);
});

it("a cell is charged when its short result has a long event written again, and the lane serves others before the next handler", () => {
  const { did } = played("chain", [1, 2], [rewrite("a"), rewrite("b")], { content: "x", blob: "y".repeat(100_000) });
  expect(did).toEqual([
    "1 runs step 0 with a long event",
    "1 is charged",
    "a reply",
    "yields",
    "2 runs step 1 with a long event",
    "the last reply",
  ]);
});

it("with a short event nothing is measured between two handlers", () => {
  const { did } = played("chain", [1, 2], [rewrite("a"), rewrite("b")], { content: "x" });
  expect(did).toEqual([`1 runs step 0 with {"content":"x"}`, `2 runs step 1 with {"content":"a"}`, "the last reply"]);
});

it("a chain goes back to the host when its results are long in total, so that the gateway reads them in several turns", () => {
  const third = rewrite("r".repeat(LIMITS.lane.hopResultChars / 2.5));
  const { did, replies } = played("chain", [1, 2, 3, 4, 5], [third, third, third, third, third], { content: "x" });
  expect(replies).toHaveLength(3);
  expect(did.at(-1)).toBe("the last reply");
});

it("of a fan, the answers of one cell are bounded in total, and those of other cells are not touched by that", () => {
  const part = rewrite("r".repeat(LIMITS.call.eventBytes / 4));
  const { replies } = played("gather", [1, 1, 1, 1, 1, 2], [part, part, part, part, part, part], { content: "x" });
  expect(replies.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "failed", "failed", "ok"]);
  expect(replies[3]!.body).toContain("ERR_CALL_RESULTS_SIZE");
});

it("where the host blocks, a chain goes back to it after each long handler: it decides whether the next one still has time", () => {
  const { did } = played("sync", [1, 1, 1], [rewrite("a"), rewrite("b"), rewrite("c")], { content: "x", blob: "y".repeat(100_000) });
  expect(did).toEqual(["1 runs step 0 with a long event", "1 is charged", "the last reply"]);
});

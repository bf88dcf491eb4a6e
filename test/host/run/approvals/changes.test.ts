/** What plugins changed after a request: compared key by key, by what each answer names, and listed up to a bound. */
import { expect, it } from "vitest";
import { CATALOG } from "creel";
import { changesOf } from "../../../../src/host/run/approvals/changes.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { merge, start } from "../../../../src/protocol/rules/merge.ts";
import type { Answerer, Fields, Merged } from "../../../../src/protocol/rules/merge.ts";

const HOOK = CATALOG.before_tool_call;
const ISOLATED = { ...HOOK, merge: { ...HOOK.merge, params: { rule: "last", approved: true } } } as typeof HOOK;
const REQUEST = { requireApproval: { title: "t", description: "d" } };

type Step = readonly [id: string, answer: Fields];

/** The changes after a request of `guard` for these parameters. */
function changed(params: Fields, steps: readonly Step[], { hook = HOOK, own = false } = {}) {
  const owned = own ? new Set<unknown>() : undefined;
  const all: readonly Step[] = [["guard", REQUEST], ...steps];
  const { asked } = all.reduce<Merged>(
    (state, [id, answer]) => merge<Answerer>(hook, state, answer, { plugin: { id } }, owned),
    start({ params }),
  );
  return changesOf(asked!.changes);
}

const keys = (count: number, value: unknown = 1): Fields => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));

it("of each plugin it is told what it changed, as it left it; who changed something last comes last", () => {
  const steps: Step[] = [
    ["a", { params: { x: 1, y: 2 } }],
    ["b", { params: { x: 2 } }],
    ["a", { params: { y: 3, given: "same" } }],
  ];
  for (const own of [false, true])
    expect(changed({ given: "same" }, steps, { own })).toEqual({
      changes: [
        { pluginId: "b", params: { x: 2 } },
        { pluginId: "a", params: { x: 1, y: 3 } },
      ],
      outdated: 1,
    });
});

it("a request is outdated only by changes behind it", () => {
  expect(
    changed({}, [
      ["a", { params: { x: 1 } }],
      ["b", REQUEST],
    ]).outdated,
  ).toBe(1);
  expect(
    changed({}, [
      ["b", REQUEST],
      ["a", { params: { x: 1 } }],
    ]).outdated,
  ).toBe(2);
});

it("values that are equal by content are no change, and those too deep to compare are one", () => {
  let [left, right]: unknown[] = [1, 1];
  for (let depth = 0; depth < 200_000; depth++) [left, right] = [[left], [right]];
  const same: Step = ["p", { params: { same: { y: [1, { z: null }] } } }];
  expect(changed({ same: { y: [1, { z: null }] }, x: left }, [same])).toEqual({ changes: [], outdated: 0 });
  expect(changed({ x: left }, [["p", { params: { x: right } }]]).changes.map(({ params }) => Object.keys(params))).toEqual([["x"]]);
});

it.each([
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: 1, b: 2 }, { a: 1 }],
  [
    [1, 2],
    [2, 1],
  ],
  [[1], { 0: 1 }],
  [new Date(0), {}],
  [null, {}],
  ["1", 1],
])("%j is not %j", (before, after) => {
  expect(changed({ x: before }, [["p", { params: { x: after } }]]).changes).toEqual([{ pluginId: "p", params: { x: after } }]);
});

it("with isolated rewrites an answer takes back what the one before it changed", () => {
  const steps: Step[] = [
    ["a", { params: { given: 2, added: 1 } }],
    ["b", { params: { other: 1 } }],
  ];
  expect(changed({ given: 1 }, steps, { hook: ISOLATED }).changes).toEqual([
    { pluginId: "a", params: { given: 2, added: 1 } },
    { pluginId: "b", params: { other: 1, given: 1 }, removed: ["added"] },
  ]);
});

it("parameters named like members of Object.prototype are data", () => {
  const params = JSON.parse(`{"__proto__":{"polluted":1},"constructor":2}`) as Fields;
  for (const own of [false, true]) {
    const [only] = changed(
      {},
      [
        ["p", { params: { x: 1 } }],
        ["p", { params }],
      ],
      { own },
    ).changes;
    expect(Object.keys(only!.params)).toEqual(["x", "__proto__", "constructor"]);
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

it("more changes of one plugin than a question shows are not listed, and the plugin is named", () => {
  const most = LIMITS.approval.changes;
  expect(
    changed({}, [
      ["busy", { params: keys(most) }],
      ["busy", { params: keys(most, 2) }],
    ]).excess,
  ).toBeUndefined();
  const { changes, excess } = changed({}, [
    ["other", { params: keys(most) }],
    ["busy", { params: keys(20 * most) }],
    ["busy", { params: { z: 1 } }],
  ]);
  expect(excess).toBe("busy");
  expect(changes.map(({ pluginId, params }) => [pluginId, Object.keys(params).length])).toEqual([
    ["other", most],
    ["busy", most + 1],
  ]);
});

// If each answer were compared with all there is, this would take minutes, and the test its time limit.
it("many short answers after a long one are compared by what they name", () => {
  const short = Array.from({ length: 5_000 }, (_, at): Step => ["busy", { params: { k0: at + 2 } }]);
  const { changes } = changed(keys(18_000), [["busy", { params: { k1: 2 } }], ...short], { own: true });
  expect(changes).toEqual([{ pluginId: "busy", params: { k0: 5_001, k1: 2 } }]);
});

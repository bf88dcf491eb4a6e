/** A replay shows what handlers were really sent, whatever the lanes, hops, skipped handlers and answers were. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CallCounts } from "../../../src/host/plugins/call-counts.ts";
import { CATALOG } from "creel";
import { isTooLong, replay } from "../../../src/host/audit/replay.ts";
import { Circuit } from "../../../src/host/blame/circuit.ts";
import type { Answers, StepAnswer } from "../../../src/host/supervisor/lane-client.ts";
import { pluginBudget } from "../../../src/host/plugins/budget.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import type { Handler } from "../../../src/host/plugins/registry.ts";
import type { RunInput } from "../../../src/host/run/run-input.ts";
import { Walk } from "../../../src/host/run/walk.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { playedLane } from "../../support/lane.ts";

const lanes = [playedLane().lane, playedLane().lane];

interface Played {
  readonly lane: number;
  /** What it answers; a word: how it fails. */
  readonly answer: Record<string, unknown> | undefined | "failed" | "garbage";
  readonly isQuarantined: boolean;
  /** It is for other events. */
  readonly isElsewhere: boolean;
  /** The lane leaves the rest to the host. */
  readonly isLast: boolean;
}

const played = fc.record<Played>({
  lane: fc.nat(1),
  answer: fc.oneof(
    fc.constant(undefined),
    fc.record({ params: fc.record({ at: fc.nat(99) }) }),
    fc.record({ params: fc.record({ other: fc.nat(99) }), odd: fc.nat() }),
    fc.constant({ block: true }),
    fc.constant("failed" as const),
    fc.constant("garbage" as const),
  ),
  isQuarantined: fc.boolean(),
  isElsewhere: fc.boolean(),
  isLast: fc.boolean(),
});

function inputOf(row: readonly Played[], failure: "open" | "closed"): RunInput {
  const event = { toolName: "exec", params: { at: 0 } };
  const plan = row.map(({ lane, isQuarantined, isElsewhere }, index): Handler => {
    const circuit = new Circuit();
    if (isQuarantined) for (let times = 0; times < 3; times++) circuit.strike("killed", "a test");
    return {
      plugin: { id: `p${index}`, order: index, circuit, bundle: undefined, budget: pluginBudget(undefined, undefined) } as Plugin,
      home: { lane: lanes[lane]!, cell: index },
      index: 0,
      priority: 0,
      options: {},
      filter: isElsewhere ? { matcher: new Set(["read"]) } : undefined,
      needsAuthority: false,
      isReentrant: false,
      isDurable: false,
      budget: { wallMs: { value: 1_000, origin: "catalog" }, cpuMs: { value: 100, origin: "catalog" } },
      callCount: new CallCounts().of("p", "h"),
      failure: undefined,
      absent: undefined,
    };
  });
  return {
    runId: "r1",
    cause: 1,
    chain: { rootRunId: "r1", depth: 0, path: [], runIds: [], by: undefined, client: undefined },
    isNested: false,
    startedMs: 0,
    activateMs: 0,
    hook: CATALOG.before_tool_call,
    plan,
    failure,
    allClosed: false,
    event,
    context: {},
    eventText: JSON.stringify(event),
    contextText: "{}",
  };
}

function stepOf(answer: Played["answer"]): StepAnswer {
  const costs = { wallUs: 1, cpuUs: 1 };
  if (answer === "failed") return { ...costs, status: "failed", body: JSON.stringify({ message: "no" }) };
  if (answer === "garbage") return { ...costs, status: "ok", body: "{" };
  return { ...costs, status: "ok", body: answer === undefined ? "" : JSON.stringify(answer) };
}

it("a replay shows what was sent, answered and changed", () => {
  fc.assert(
    fc.property(fc.array(played, { minLength: 1, maxLength: 7 }), fc.constantFrom("open", "closed"), (row, failure) => {
      const input = inputOf(row, failure);
      const walk = new Walk(input);
      /** By plugin, the event that a hop began with. */
      const sent = new Map<string, unknown>();
      let hop = walk.next();
      while (hop) {
        const { route, from, event } = hop.request;
        const ids = route.steps.map(([cell]) => `p${cell}`);
        sent.set(ids[from]!, JSON.parse(event));
        const answers: (StepAnswer | undefined)[] = Array.from({ length: from }, () => undefined);
        for (const id of ids.slice(from)) {
          const { answer, isLast } = row[Number(id.slice(1))]!;
          answers.push(stepOf(answer));
          // No handler that changes the event is skipped here, so the event of every hop is known.
          if (isLast || (answer !== undefined && answer !== "garbage")) break;
        }
        hop = walk.next({ steps: answers } satisfies Answers);
      }
      const { calls } = walk.outcome!;
      const found = replay(input, calls);
      for (const [at, { saw, returned, changed }] of found.entries()) {
        const { plugin, status } = calls[at]!;
        const seen = { ...input.event, ...saw };
        expect(seen).toEqual(status === "skipped" ? seen : (sent.get(plugin) ?? seen));
        const { answer } = row[at]!;
        const isCalled = status !== "skipped" && status !== "quarantined";
        const body = isCalled && answer !== "failed" ? stepOf(answer).body : "";
        expect(returned ?? "").toBe(body);
        const isRewrite = isCalled && typeof answer === "object" && "params" in answer;
        expect(changed).toEqual(isRewrite ? ["params"] : []);
      }
    }),
    { numRuns: 500 },
  );
});

/** A run whose lane brought these answers. */
function answered(row: readonly Played["answer"][]): RunInput {
  const handler = { lane: 0, isQuarantined: false, isElsewhere: false, isLast: false };
  const all = row.map((answer) => ({ ...handler, answer }));
  return { ...inputOf(all, "open"), firstAnswers: { steps: row.map(stepOf) } };
}

it("a run is not replayed if its texts are long, or if many results are merged into long ones", () => {
  const long = { params: Object.fromEntries(Array.from({ length: 16_000 }, (_, at) => [`k${at}`, 1])) };
  const short = { params: { k0: 1 } };
  const count = Math.ceil(LIMITS.audit.replayCopiedChars / JSON.stringify(long).length);
  const times = (many: number): Played["answer"][] => Array.from({ length: many }, () => short);
  const rows: [boolean, Played["answer"][]][] = [
    [false, [long, short, short]],
    [true, [long, ...times(count)]],
    [false, [long, ...Array<Played["answer"]>(count).fill(undefined)]],
    [false, times(200)],
    [true, [long, { params: { text: "x".repeat(LIMITS.audit.replayChars) } }]],
  ];
  for (const [isLong, row] of rows) expect(isTooLong(answered(row))).toBe(isLong);
});

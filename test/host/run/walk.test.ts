/** The walk along a chain: whatever a lane answers or does not answer, the host asks a bounded number of times and comes to an outcome. */
import { expect, it } from "vitest";
import { CallCounts } from "../../../src/host/plugins/call-counts.ts";
import { CATALOG } from "creel";
import { pluginBudget } from "../../../src/host/plugins/budget.ts";
import { GatewayTime } from "../../../src/host/services/gateway-time.ts";
import type { Answers, LaneClient, StepAnswer } from "../../../src/host/supervisor/lane-client.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import type { Plan } from "../../../src/host/plugins/registry.ts";
import type { RunInput } from "../../../src/host/run/run-input.ts";
import { Walk } from "../../../src/host/run/walk.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { playedLane } from "../../support/lane.ts";

const ok = (body = ""): StepAnswer => ({ status: "ok", wallUs: 1_000, cpuUs: 1_000, body });

function input(lanes: readonly LaneClient[], failure: "open" | "closed" = "open"): RunInput {
  const plan = lanes.map((lane, index) => ({
    plugin: { id: `p${index}`, order: index, budget: pluginBudget(undefined, undefined), gatewayTime: new GatewayTime(1_000) } as Plugin,
    home: { lane, cell: index },
    index: 0,
    priority: 0,
    filter: undefined,
    needsAuthority: false,
    isReentrant: false,
    isDurable: false,
    budget: { wallMs: { value: 1_000, origin: "catalog" }, cpuMs: { value: 100, origin: "catalog" } },
    options: {},
    callCount: new CallCounts().of("p", "h"),
    failure: undefined,
    absent: undefined,
  })) satisfies Plan;
  const event = { to: "x", content: "o" };
  return {
    runId: "r1",
    cause: 1,
    chain: { rootRunId: "r1", depth: 0, path: [], runIds: [], by: undefined, client: undefined },
    isNested: false,
    startedMs: 0,
    activateMs: 0,
    hook: CATALOG.message_sending,
    plan,
    failure,
    allClosed: true,
    event,
    context: {},
    eventText: JSON.stringify(event),
    contextText: "{}",
  };
}

/** Plays the lanes: how often it was asked, with which events, and what came of it. */
function play(given: RunInput, answer: (asked: number, from: number) => Answers["steps"]) {
  const walk = new Walk(given);
  const events: string[] = [];
  let hop = walk.next();
  while (hop) {
    const { from, event } = hop.request;
    events.push((JSON.parse(event) as { content?: string }).content ?? event);
    if (events.length > 100) throw new Error("it asks for ever");
    hop = walk.next({ steps: answer(events.length, from) });
  }
  return { asked: events.length, events, outcome: walk.outcome! };
}

const lane = () => playedLane().lane;
const same = (count: number) => Array<LaneClient>(count).fill(lane());

it("a lane that answers nothing is asked once per handler, and each is crashed by name", () => {
  const { asked, outcome } = play(input(same(3)), () => []);
  expect(asked).toBe(3);
  expect(outcome.calls.map(({ plugin, status, error }) => [plugin, status, error?.code])).toEqual(
    ["p0", "p1", "p2"].map((id) => [id, "crashed", "ERR_SANDBOX_PROTOCOL"]),
  );
  expect(outcome).toMatchObject({ decision: "pass", result: undefined });
});

it("on a hook that fails closed, no answer ends the run", () => {
  const { asked, outcome } = play(input(same(3), "closed"), () => []);
  expect(asked).toBe(1);
  expect(outcome).toMatchObject({ decision: "cancel", by: "p0" });
  expect(outcome.calls.map(({ status }) => status)).toEqual(["crashed", "skipped", "skipped"]);
});

it("handlers in a row in one lane are asked for in one hop, others in their own", () => {
  const [one, two] = [lane(), lane()];
  expect(play(input([one, one, two, two, one]), (_, from) => Array.from({ length: from + 2 }, () => ok())).asked).toBe(3);
});

it("a lane that leaves the rest to the host is asked again from there, with the event as it stands", () => {
  const { events, outcome } = play(input(same(3)), (asked, from) => {
    const answers: StepAnswer[] = [];
    answers[from] = ok(JSON.stringify({ content: `c${asked}` }));
    return answers;
  });
  expect(events).toEqual(["o", "c1", "c2"]);
  expect(outcome.result).toEqual({ content: "c3" });
});

it("answers with a hole count up to the hole, and the rest is asked again", () => {
  const { asked, outcome } = play(input(same(3)), (_, from) =>
    from === 0 ? [ok(`{"content":"a"}`), undefined, ok(`{"content":"z"}`)] : [undefined, ok(`{"content":"b"}`), ok()],
  );
  expect(asked).toBe(2);
  expect(outcome.result).toEqual({ content: "b" });
});

it("answers past the last handler, or past a terminal one, are not read", () => {
  const { outcome } = play(input(same(2)), () => [ok(`{"cancel":true}`), ok(`{"content":"evil"}`), ok(`{"content":"evil"}`)]);
  expect(outcome).toMatchObject({ decision: "cancel", by: "p0", result: { cancel: true } });
  expect(outcome.result).not.toHaveProperty("content");
  expect(outcome.calls.map(({ status }) => status)).toEqual(["ok", "skipped"]);
});

it.each(["{", "undefined", `{"content":5}`, `[]`])("a body that is no result (%s) is that handler's failure", (body) => {
  const { outcome } = play(input(same(1)), () => [ok(body)]);
  expect(outcome.calls[0]).toMatchObject({ plugin: "p0", status: "failed" });
  expect(outcome.result).toBeUndefined();
});

/** Plays lanes that say more than answers; gives what was asked for: how many steps, which attempt, of how much time. */
function playDeaths(given: RunInput, answer: (asked: number) => Answers) {
  const walk = new Walk(given);
  const asked: { steps: number; attempt: number; spentMs: number; context: string }[] = [];
  let hop = walk.next();
  while (hop) {
    const { route, attempt, spentMs, context } = hop.request;
    asked.push({ steps: route.steps.length, attempt, spentMs, context });
    if (asked.length > 100) throw new Error("it asks for ever");
    hop = walk.next(answer(asked.length));
  }
  return { asked, outcome: walk.outcome! };
}

it("after a death the rest is asked for one by one, as second attempts with the time that is left, and each answer stands", () => {
  const { asked, outcome } = playDeaths(input(same(3)), (count) =>
    count === 1 ? { steps: [], retry: { spentMs: 20, until: 1 } } : { steps: [ok(JSON.stringify({ content: `c${count}` }))] },
  );
  expect(asked).toEqual([
    { steps: 3, attempt: 1, spentMs: 0, context: "{}" },
    { steps: 1, attempt: 2, spentMs: 20, context: `{"attempt":2}` },
    { steps: 1, attempt: 2, spentMs: 0, context: `{"attempt":2}` },
    { steps: 1, attempt: 1, spentMs: 0, context: "{}" },
  ]);
  expect(outcome.result).toEqual({ content: "c4" });
});

it("after a death the culprit is not asked again: its verdict stands, and those before and after it are", () => {
  const verdict: StepAnswer = { ...ok(`{"code":"ERR_CALL_WEDGED","message":"m"}`), status: "cpu" };
  const { asked, outcome } = playDeaths(input(same(3)), (count) =>
    count === 1 ? { steps: [undefined, verdict], retry: { spentMs: 0, until: 1 } } : { steps: [ok(`{"content":"c${count}"}`)] },
  );
  expect(asked.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
  expect(outcome.calls.map(({ status }) => status)).toEqual(["ok", "cpu", "ok"]);
  expect(outcome.result).toEqual({ content: "c3" });
});

it("a sandbox that dies under every question does not make the host ask for ever", () => {
  const { asked, outcome } = playDeaths(input(same(3)), (count) =>
    count === 1 ? { steps: [], retry: { spentMs: 0, until: 2 } } : { steps: [{ ...ok("{}"), status: "crashed" }] },
  );
  expect(asked).toHaveLength(4);
  expect(outcome.calls.map(({ status }) => status)).toEqual(["crashed", "crashed", "crashed"]);
});

it("a handler that has moved while the run was on its way is asked where it lives now", () => {
  const [old, fresh] = [lane(), lane()];
  const given = input([old, old]);
  const walk = new Walk(given);
  expect(walk.next()).toMatchObject({ lane: old });
  Object.assign(given.plan[1]!.home, { lane: fresh, cell: 7 });
  expect(walk.next({ steps: [ok()] })).toMatchObject({
    lane: fresh,
    request: { route: { steps: [[7, 0, 1_000, 100, LIMITS.call.resultBytes]] }, attempt: 1 },
  });
});

/** A result that takes a megabyte, as far as it is let. */
const LARGE = JSON.stringify({ params: { text: "x".repeat(LIMITS.call.resultBytes - 100) } });

it("results that would make the event longer than it may be fail by the hook's policy, with their plugin named; those before them count", () => {
  const handlers = LIMITS.call.eventBytes / LIMITS.call.resultBytes + 2;
  const given = (failure: "open" | "closed"): RunInput => ({
    ...input(same(handlers), failure),
    hook: CATALOG.before_tool_call,
    event: { toolName: "exec", params: {} },
    eventText: `{"toolName":"exec","params":{}}`,
  });
  const answers = Array.from({ length: handlers }, (_, at) => ok(LARGE.replace("text", `t${at}`)));
  const open = play(given("open"), () => answers);
  const failures = open.outcome.calls.filter(({ status }) => status === "failed");
  expect(failures.map(({ error }) => error?.code)).toEqual(failures.map(() => "ERR_CALL_EVENT_GROWTH"));
  expect(failures.length).toBeGreaterThan(0);
  expect(open.outcome.calls.slice(0, 7).map(({ status }) => status)).toEqual(Array(7).fill("ok"));
  const closed = play(given("closed"), () => answers);
  expect(closed.outcome.calls.find(({ status }) => status === "failed")?.plugin).toBe(closed.outcome.by);
});

/** A run of `handlers` of one plugin and one handler of another, whose gateway's clock ticks once whenever it is looked at. */
function shared(handlers: number, failure: "open" | "closed" = "open") {
  let ms = 0;
  const given = input(same(handlers + 1), failure);
  const [busy, other] = ["busy", "other"].map((id) => ({
    ...given.plan[0]!.plugin,
    id,
    gatewayTime: new GatewayTime(50, () => (ms += 1)),
  })) as [Plugin, Plugin];
  const plan = given.plan.map((handler, at) => ({ ...handler, plugin: at < handlers ? busy : other })) as Plan;
  return { busy, other, given: { ...given, plan } };
}

/** Each hop brings one answer. */
const oneByOne = (body: (at: number) => string) => (_: number, from: number) => {
  const answers: StepAnswer[] = [];
  answers[from] = ok(body(from));
  return answers;
};

it("what long results cost the gateway is charged to their plugin, and not to the plugin behind it", () => {
  const { busy, other, given } = shared(4);
  const long = JSON.stringify({ content: "x".repeat(LIMITS.gateway.resultChars) });
  play(
    given,
    oneByOne((at) => (at < 4 ? long : `{"content":"short"}`)),
  );
  expect(busy.gatewayTime.report().spentMs).toBeGreaterThanOrEqual(5);
  expect(other.gatewayTime.report().spentMs).toBe(0);
});

it("so is what many short results cost that are long in total", () => {
  const { busy, given } = shared(40);
  play(given, () => given.plan.map(() => ok(JSON.stringify({ content: "x".repeat(LIMITS.gateway.resultChars / 20) }))));
  // The first ones are free.
  expect(busy.gatewayTime.report().spentMs).toBeGreaterThanOrEqual(15);
});

/** What a plugin pays for short results that have a long event sent to and fro. */
function spentToAndFro(handlers: number): number {
  const { busy, given } = shared(handlers);
  const event = { to: "x", content: "o", blob: "y".repeat(1024 * 1024) };
  play(
    { ...given, event, eventText: JSON.stringify(event) },
    oneByOne((at) => `{"content":"c${at}"}`),
  );
  return busy.gatewayTime.report().spentMs;
}

it("so is a long event that short results have sent to and fro; a plugin that does it a few times is not charged", () => {
  expect(spentToAndFro(LIMITS.gateway.freeHops - 1)).toBe(0);
  expect(spentToAndFro(LIMITS.gateway.freeHops + 20)).toBeGreaterThan(4 * 20);
});

it("past its debt a plugin's results are not read any more; those of the plugin behind it are", () => {
  const { busy, given } = shared(4);
  const long = JSON.stringify({ content: "x".repeat(LIMITS.gateway.resultChars) });
  let ms = 0;
  busy.gatewayTime = new GatewayTime(50, () => (ms += LIMITS.gateway.debtMs));
  const { outcome } = play(given, () => given.plan.map((_, at) => ok(at < 4 ? long : `{"content":"last"}`)));
  expect(outcome.calls.map(({ error }) => error?.code)).toContain("ERR_CALL_RESULT_TIME");
  expect(outcome.calls[0]?.status).toBe("ok");
  expect([outcome.calls[4]?.status, outcome.result]).toEqual(["ok", { content: "last" }]);
});

it("the results of one plugin in a run are bounded in total, and fail by the hook's policy", () => {
  const { given } = shared(4, "closed");
  const long = JSON.stringify({ content: "x".repeat(LIMITS.call.resultBytes - 100) });
  const { outcome } = play(given, () => given.plan.map(() => ok(long)));
  expect(outcome).toMatchObject({ decision: "cancel", by: "busy" });
  expect(outcome.calls.map(({ status, error }) => error?.code ?? status)).toEqual([
    "ok",
    "ok",
    "ERR_CALL_RESULTS_SIZE",
    "skipped",
    "skipped",
  ]);
});

/** Short results that each change one parameter, after one that sets so many. */
function afterLong(keys: number, results: number, event: Record<string, unknown> = {}) {
  const long = ok(JSON.stringify({ params: Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, 1])) }));
  const given: RunInput = {
    ...input(same(results + 1)),
    hook: CATALOG.before_tool_call,
    event: { toolName: "exec", params: event },
    eventText: JSON.stringify({ toolName: "exec", params: event }),
  };
  return play(given, () => [long, ...Array.from({ length: results }, (_, at) => ok(`{"params":{"k0":${at}}}`))]).outcome;
}

// If each were merged into a copy of what stands, these would take minutes, and the test its time limit.
it("many short results after a long one, or to a long event, cost the gateway what they name", () => {
  const { params } = afterLong(18_000, 10_000).result as { params: Record<string, number> };
  expect([params.k0, params.k17999, Object.keys(params).length]).toEqual([9_999, 1, 18_000]);
  const event = Object.fromEntries(Array.from({ length: 18_000 }, (_, at) => [`e${at}`, 1]));
  expect(Object.keys((afterLong(1, 10_000, event).result as { params: object }).params)).toHaveLength(18_001);
  expect([event.e0, "k0" in event]).toEqual([1, false]);
});

/** A megabyte under a name of its own. */
const megabyte = (at: number): StepAnswer =>
  ok(JSON.stringify({ params: { last: at, text: "x".repeat(LIMITS.call.resultBytes - 100) } }).replace("text", `t${at}`));

it("a result that does not count, since the event would become too long, leaves nothing behind in what stands", () => {
  const given: RunInput = {
    ...input(same(20)),
    hook: CATALOG.before_tool_call,
    event: { toolName: "exec", params: {} },
    eventText: `{"toolName":"exec","params":{}}`,
  };
  const { outcome } = play(given, () => Array.from({ length: 20 }, (_, at) => megabyte(at)));
  const good = outcome.calls.filter(({ status }) => status === "ok").length;
  expect(good).toBeLessThan(20);
  const { params } = outcome.result as { params: Record<string, unknown> };
  expect([params.last, Object.keys(params).length]).toEqual([good - 1, good + 1]);
});

it("where the gateway blocks, all handlers of a plugin share the CPU time of one; the plugin behind it has its own", () => {
  const { given } = shared(20);
  const event = { message: {} };
  const sync: RunInput = { ...given, hook: CATALOG.tool_result_persist, event, eventText: JSON.stringify(event) };
  // Each hop ends after one long handler.
  const { asked, outcome } = play(sync, (_, from) => {
    const answers: StepAnswer[] = [];
    answers[from] = { status: "ok", wallUs: 40_000, cpuUs: 40_000, body: "" };
    return answers;
  });
  expect(asked).toBe(4);
  const statuses = outcome.calls.map(({ status, error }) => error?.code ?? status);
  expect(statuses).toEqual(["ok", "ok", "ok", ...Array<string>(17).fill("ERR_CALL_CPU_SHARED"), "ok"]);
});

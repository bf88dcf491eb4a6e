/** The host's view of a lane: it believes nothing it has not checked, and settles everything it was asked, whatever the lane does. */
import * as fc from "fast-check";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Answers } from "../../../src/host/supervisor/lane-client.ts";
import { pack } from "../../../src/transport/frames.ts";
import { writeReply } from "../../../src/transport/call-frames.ts";
import type { StepReply } from "../../../src/transport/call-frames.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { playedLane, PlayedLink, start } from "../../support/lane.ts";

const step = (position: number, body = "", status: StepReply["status"] = "ok"): StepReply => ({
  step: position,
  status,
  wallUs: 10,
  cpuUs: 5,
  body,
});

it("what should be done waits until the lane is ready, and then goes together, in order", async () => {
  const { lane, link } = playedLane();
  lane.connect(link, ["hello"]);
  const runs = [start(lane, 1), start(lane, 1)];
  expect(link.runs()).toEqual([]);
  link.ready();
  await Promise.resolve();
  expect(link.sent[0]).toBe("hello");
  expect(link.runs()).toEqual(runs.map(({ id }) => id));
  link.say(...runs.map(({ id }) => writeReply(id, true, [step(0, `"${id}"`)])));
  expect((await Promise.all(runs)).map(({ steps }) => steps[0]?.body)).toEqual(runs.map(({ id }) => `"${id}"`));
});

it("answers may come in parts and out of order; the last part settles the run", async () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  const run = start(lane, 3, { mode: "fan" });
  await Promise.resolve();
  link.say(writeReply(run.id, false, [step(2, "2")]));
  link.say(writeReply(run.id, true, [step(0, "0"), step(1, "1", "failed")]));
  const { steps: answers } = await run;
  expect(answers).toMatchObject([{ body: "0" }, { body: "1", status: "failed" }, { body: "2" }]);
  expect(replaced).toEqual([]);
});

it("a lane cannot take back an answer it gave, nor answer a run twice", async () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  const run = start(lane, 2);
  await Promise.resolve();
  link.say(
    writeReply(run.id, false, [step(0, "first")]),
    writeReply(run.id, true, [step(0, "second")]),
    writeReply(run.id, true, [step(0, "third"), step(1, "late")]),
  );
  const { steps } = await run;
  expect([steps[0]?.body, steps[1]]).toEqual(["first", undefined]);
  expect(replaced).toEqual([]);
});

it("replies to runs it was never asked are ignored", () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  link.say(writeReply(4711, true, [step(0)]));
  expect(replaced).toEqual([]);
});

it.each([
  ["an empty frame", ""],
  ["no frame at all", "nonsense"],
  ["a header that is not JSON", "{\n"],
  ["a message of an unknown kind", pack({ kind: "own" })],
  ["a message that only the host may send", pack({ kind: "drop", cell: 0 })],
  ["a cell that is no number", pack({ kind: "log", cell: "0", level: "info" }, "x")],
  ["a negative cell", pack({ kind: "fault", cell: -1 }, "x")],
  ["an unknown log level", pack({ kind: "log", cell: 0, level: "fatal" }, "x")],
  ["bodies that do not add up", `{"kind":"log","cell":0,"level":"info","sizes":[5]}\nx`],
  ["a reply that is cut off", "A1,1;0,0,0,0,5\nx"],
  ["a run, which only the host may send", "R1,1,0,0,1,0,2\n{}{}"],
  ["a frame in parts, which is for lanes", ["A1,1;0,0,0,0,2\n", "{}"] as unknown as string],
])("a lane that sends %s is replaced, and what was pending in it is settled when it goes", async (_, frame) => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  const run = start(lane, 1);
  await Promise.resolve();
  link.say(frame);
  expect(replaced).toHaveLength(1);
  expect(replaced[0]).toContain("breaks the protocol");
  lane.disconnect({ why: "it was killed" });
  expect(await run).toMatchObject({ steps: [], retry: { until: 0 } });
});

it("a lane that answers a step that was not asked for is replaced", async () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  const run = start(lane, 2);
  await Promise.resolve();
  link.say(writeReply(run.id, true, [step(2)]));
  expect(replaced).toHaveLength(1);
  lane.disconnect({ why: "killed" });
  await run;
});

it.each([["chain"], ["fan"]] as const)(
  "a lane whose answers to one run (a %s) are too long in total is replaced before they fill the memory",
  async (mode) => {
    const { lane, link, replaced } = playedLane();
    lane.connect(link, []);
    link.ready();
    const run = start(lane, 5, { mode });
    await Promise.resolve();
    const body = "x".repeat(LIMITS.frames.answersChars / 4);
    // Between parts the host stops reading for a while.
    for (const at of [0, 1, 2, 3, 4]) link.say(writeReply(run.id, false, [step(at, body)]));
    await vi.waitFor(() => expect(replaced).toHaveLength(1), { timeout: 10_000 });
    expect(replaced[0]).toContain("too long in total");
    lane.disconnect({ why: "killed" });
    await run;
  },
);

it.each([
  [
    "more keys than a result may have",
    `{"content":{${Array.from({ length: LIMITS.call.resultValues + 1 }, (_, at) => `"${at}":1`).join()}}}`,
  ],
  ["a result 400,000 deep", `{"content":${"[".repeat(400_000)}${"]".repeat(400_000)}}`],
  ["a result of more bytes than characters allow for", `{"content":"${"\u20ac".repeat(LIMITS.call.eventBytes / 2)}"}`],
])(
  "a lane that passes on %s is replaced, and nothing of it is parsed: a lane that is well refuses it in its plugin's name",
  async (_, body) => {
    const { lane, link, replaced, run } = await running(1);
    link.say(writeReply(run.id, true, [step(0, body)]));
    expect(replaced).toEqual([expect.stringContaining("a result beyond its bounds")]);
    lane.disconnect({ why: "killed" });
    expect(await run).toMatchObject({ steps: [], retry: { until: 0 } });
  },
);

it("a lane that speaks of a cell that is not its own is replaced", () => {
  const { lane, link, replaced } = playedLane((kind) => {
    if (kind === "log") throw new RangeError("a message about a cell that is not in lane 0");
  });
  lane.connect(link, []);
  link.ready();
  link.say(pack({ kind: "log", cell: 99, level: "info" }, "x"));
  expect(replaced[0]).toContain("a cell that is not in lane 0");
});

it("whatever a lane sends, nothing is thrown at the link", () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  void start(lane, 3);
  const frame = fc.oneof(
    fc.string(),
    fc.json().map((json) => `${json}\n`),
    fc.array(fc.integer({ min: -1, max: 5 })).map((numbers) => `A${numbers.join()}\n`),
    fc.dictionary(fc.constantFrom("kind", "cell", "ok", "level", "sizes"), fc.jsonValue()).map((header) => `${JSON.stringify(header)}\n`),
  );
  fc.assert(
    fc.property(fc.array(frame), (frames) => {
      link.say(...frames);
    }),
    { numRuns: 500 },
  );
  expect(replaced.length).toBeGreaterThan(0);
  lane.disconnect({ why: "killed" });
});

/** A ready lane with a run in it that was sent. */
async function running(steps: number, more: Parameters<typeof start>[2] = {}) {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  const run = start(lane, steps, more);
  await Promise.resolve();
  return { lane, link, replaced, run };
}
const diagnosis = { status: "cpu", wallUs: 0, cpuUs: 0, body: "it was this one" } as const;
const states = ({ steps }: Answers) => Array.from(steps, (answer) => answer?.status ?? "open");

it("when a lane dies, the step that was executing gets the diagnosis, and those before it whose answers were lost are to be made again", async () => {
  const { lane, run } = await running(3);
  lane.disconnect({ why: "it was killed", culprit: { cell: 9, run: run.id, step: 1, answer: diagnosis } });
  const answers = await run;
  expect(states(answers)).toEqual(["open", "cpu"]);
  expect(answers.retry).toMatchObject({ until: 1 });
});

it("when a lane dies, a call that waited in the culprit's cell went with it", async () => {
  const { lane, run } = await running(2);
  lane.disconnect({ why: "it was killed", culprit: { cell: 0, run: run.id + 1, step: 0, answer: diagnosis } });
  const answers = await run;
  expect(states(answers)).toEqual(["crashed"]);
  expect(answers.steps[0]?.body).toContain("ERR_CALL_REPLACED");
  expect(answers.retry).toBeUndefined();
});

it("when a lane dies through no fault of a call's, the call is to be made again, up to the last step that may have been begun", async () => {
  const unclear = await running(3);
  unclear.lane.disconnect({ why: "SIGKILL" });
  expect(await unclear.run).toMatchObject({ steps: [], retry: { until: 2 } });
  const clear = await running(3);
  clear.link.say(writeReply(clear.run.id, false, [step(0, "0")]));
  clear.lane.disconnect({ why: "SIGKILL" });
  expect(await clear.run).toMatchObject({ steps: [{ status: "ok", body: "0" }], retry: { until: 1 } });
});

it("a call whose second attempt dies as well is crashed: it is not made a third time", async () => {
  const { lane, run } = await running(2, { attempt: 2 });
  lane.disconnect({ why: "SIGKILL" });
  const answers = await run;
  expect(states(answers)).toEqual(["crashed"]);
  expect(answers.steps[0]?.body).toContain("ERR_SANDBOX_DIED");
  expect(answers.retry).toBeUndefined();
});

it("when a lane dies, the open steps of a fan are to be made again, and only those", async () => {
  const { lane, link, run } = await running(3, { mode: "fan" });
  link.say(writeReply(run.id, false, [step(1, "1")]));
  lane.disconnect({ why: "SIGKILL" });
  const answers = await run;
  expect(states(answers)).toEqual(["open", "ok"]);
  expect(answers.retry).toBeDefined();
});

it("runs that a lane had not begun when it died just go on, in their order, before later ones", async () => {
  const { lane, link, run } = await running(1);
  const queued = [start(lane, 1), start(lane, 1)];
  await Promise.resolve();
  lane.disconnect({ why: "it was killed", begun: run.id });
  expect(await run).toMatchObject({ retry: { until: 0 } });
  const later = start(lane, 1);
  const replacement = new PlayedLink();
  lane.connect(replacement, []);
  replacement.ready();
  expect(link.runs()).toEqual([run.id, ...queued.map(({ id }) => id)]);
  expect(replacement.runs()).toEqual([...queued, later].map(({ id }) => id));
});

it("what was to be told to a lane that died is not told to the next: it would mean something else there", async () => {
  const { lane, link } = await running(1);
  lane.hold();
  lane.post({ kind: "response", cell: 0, request: 1, ok: true }, "first");
  void start(lane, 1);
  await Promise.resolve();
  // A lane that is held gets no further run, but may finish what it is at.
  expect(link.sent.filter((frame) => frame.includes("response"))).toHaveLength(1);
  expect(link.runs()).toHaveLength(1);
  lane.disconnect({ why: "killed" });
  lane.post({ kind: "response", cell: 0, request: 1, ok: true }, "late");
  const replacement = new PlayedLink();
  lane.connect(replacement, []);
  replacement.ready();
  await Promise.resolve();
  expect(replacement.sent.filter((frame) => frame.includes("response"))).toEqual([]);
  expect(replacement.runs()).toHaveLength(1);
  const { generation } = lane;
  link.say(pack({ kind: "log", cell: 0, level: "info" }, "a voice from the past"));
  expect(lane.generation).toBe(generation);
});

it("a route through a cell that was dropped is forgotten, and told again if an old run still needs it", async () => {
  const { lane, link, run } = await running(1);
  link.say(writeReply(run.id, true, [step(0)]));
  const { route } = await run.then(() => ({ route: lane.route("message_sending", "chain", [[0, 0, 1_000, 1, LIMITS.call.resultBytes]]) }));
  lane.forget(0);
  void start(lane, 1);
  lane.run({ cause: 1, route, from: 0, chains: true, attempt: 1, spentMs: 0, event: "{}", context: "{}" }, { answered: () => {} });
  await Promise.resolve();
  const kinds = link.sent.map((frame) => (frame.startsWith("R") ? "run" : /"kind":"(\w+)"/.exec(frame)![1]));
  expect(kinds).toEqual(["route", "run", "drop", "route", "run", "route", "run"]);
});

it("what was not sent when the lane died goes to its replacement", async () => {
  const { lane, link } = playedLane();
  lane.connect(link, []);
  const run = start(lane, 1);
  lane.disconnect({ why: "died while starting" });
  const replacement = new PlayedLink();
  lane.connect(replacement, ["hello again"]);
  replacement.ready();
  expect(link.runs()).toEqual([]);
  expect(replacement.runs()).toEqual([run.id]);
  // The route that the run names was told first.
  expect(replacement.sent.findIndex((frame) => frame.includes(`"route"`))).toBeLessThan(
    replacement.sent.findIndex((frame) => frame.startsWith("R")),
  );
  replacement.say(writeReply(run.id, true, [step(0, "done")]));
  expect((await run).steps[0]?.body).toBe("done");
});

it("a cancelled run is cancelled in the lane if it was sent, withdrawn if not, and never answered", async () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  const unsent = start(lane, 1);
  lane.cancel(unsent.id);
  link.ready();
  expect(link.runs()).toEqual([]);
  const sent = start(lane, 1);
  await Promise.resolve();
  lane.cancel(sent.id);
  await Promise.resolve();
  expect(link.sent.some((frame) => frame.includes(`"cancel"`) && frame.includes(String(sent.id)))).toBe(true);
  link.say(writeReply(sent.id, true, [step(0)]));
  expect(replaced).toEqual([]);
  const answered = vi.fn<() => void>();
  void sent.then(answered);
  void unsent.then(answered);
  await Promise.resolve();
  expect(answered).not.toHaveBeenCalled();
});

it("a lane that never answers is given up after the budget, and replaced when it stays silent", async () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  const { steps: answers } = await start(lane, 2, { wallMs: 10 });
  expect([answers[0]?.status, answers[1]]).toEqual(["timeout", undefined]);
  expect(answers[0]?.body).toContain("ERR_SANDBOX_STUCK");
  await vi.waitFor(() => expect(replaced).toHaveLength(1), { timeout: 5_000 });
});

it("a lane that only has not said yet that it was reached is not replaced: it may be loading a plugin", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  const reached = lane.reached();
  await vi.advanceTimersByTimeAsync(20_000);
  await reached;
  expect(replaced).toEqual([]);
  const call = start(lane, 1, { wallMs: 10 });
  await vi.advanceTimersByTimeAsync(20_000);
  await call;
  expect(replaced).toEqual([expect.stringContaining("did not answer")]);
});

it("a silent lane that is seen inside a turn is left to the watchdog, however long the machine takes for that turn", async () => {
  let asked = 0;
  let isInTurn = true;
  const { lane, link, replaced } = playedLane(undefined, () => {
    asked += 1;
    return isInTurn;
  });
  lane.connect(link, []);
  link.ready();
  await start(lane, 1, { wallMs: 10 });
  await vi.waitFor(() => expect(asked).toBeGreaterThan(2), { timeout: 10_000 });
  expect(replaced).toEqual([]);
  isInTurn = false;
  await vi.waitFor(() => expect(replaced).toHaveLength(1), { timeout: 10_000 });
});

it("a lane that is still starting is not replaced for being slow", async () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  expect((await start(lane, 1, { wallMs: 10 })).steps).toMatchObject([{ status: "timeout" }]);
  link.ready();
  expect(link.runs()).toEqual([]);
  expect(replaced).toEqual([]);
});

const logLine = pack({ kind: "log", cell: 0, level: "info", run: 0 }, "x");

it("a lane that says more than it may without being asked is not read for a while, and nothing of it is lost or out of order", async () => {
  const { lane, link, received } = playedLane();
  lane.connect(link, []);
  link.ready();
  const run = start(lane, 1);
  await Promise.resolve();
  const reply = writeReply(run.id, true, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body: "" }]);
  link.say(...Array.from({ length: LIMITS.frames.intakeMessages * 2 }, () => logLine), reply);
  expect(link.isPaused).toBe(true);
  expect(received.length).toBeLessThanOrEqual(LIMITS.frames.intakeMessages + 2);
  expect((await run).steps[0]?.status).toBe("ok");
  expect(received.filter((kind) => kind === "log")).toHaveLength(LIMITS.frames.intakeMessages * 2);
  await vi.waitFor(() => expect(link.isPaused).toBe(false));
});

it("answers to runs are no reason to stop reading, however many come", async () => {
  const { lane, link } = playedLane();
  lane.connect(link, []);
  link.ready();
  const runs = Array.from({ length: LIMITS.frames.intakeMessages * 2 }, () => start(lane, 1));
  await Promise.resolve();
  link.say(...runs.map(({ id }) => writeReply(id, true, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body: "" }])));
  expect(link.isPaused).toBe(false);
  await Promise.all(runs);
});

it("no run is sent to a lane that leaves unread what it was sent, until it has read it", async () => {
  const { lane, link } = playedLane();
  lane.connect(link, []);
  link.ready();
  link.unsentBytes = LIMITS.frames.unreadBytes + 1;
  const run = start(lane, 1);
  await Promise.resolve();
  expect(link.runs()).toEqual([]);
  link.unsentBytes = 0;
  await vi.waitFor(() => expect(link.runs()).toEqual([run.id]));
});

it("the owner of a lane is told when its link ends, and whether the lane broke the rules; not of a link that was given up", () => {
  const { lane, link, ended } = playedLane();
  lane.connect(link, []);
  link.end("a frame of 9 bytes", true);
  lane.disconnect({ why: "replaced" });
  link.end("closed");
  expect(ended).toEqual([["a frame of 9 bytes", true]]);
});

it("a header of more than a few numbers is not parsed", () => {
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.say(pack({ kind: "log", cell: 0, level: "info", more: "x".repeat(LIMITS.frames.headerChars) }, "x"));
  expect(replaced).toEqual([expect.stringContaining("a header of")]);
});

it("a lane that leaves unread what it was sent, and answers nothing, is replaced, though no further run was sent to it", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { lane, link, replaced } = playedLane();
  lane.connect(link, []);
  link.ready();
  link.unsentBytes = LIMITS.frames.unreadBytes + 1;
  const talk = setInterval(() => link.say(logLine), 100);
  const first = start(lane, 1, { wallMs: 100 });
  await vi.advanceTimersByTimeAsync(20_000);
  clearInterval(talk);
  expect((await first).steps[0]?.status).toBe("timeout");
  expect(link.runs()).toEqual([]);
  expect(replaced).toEqual([expect.stringContaining("did not answer")]);
});

/** The real script in the real sandbox: how many turns a session has, and that the window moves. */
import { join } from "node:path";
import { openHost } from "creel";
import type { Host } from "creel";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";

describe.each(["thread", "process"] as const)("turn-limiter, %s isolation", (isolation) => {
  let host: Host;

  beforeAll(async () => {
    const beforeTurn = [{ script: join(import.meta.dirname, "index.ts"), filter: { agentId: ["main", "support"] } }];
    host = await openHost({ isolation, lanes: 1, config: { hooks: { agent: { beforeTurn } } }, logger: pino({ level: "silent" }) });
  });
  afterAll(() => host.close());

  const turn = async (sessionKey: string, agentId = "main") =>
    (await host.turn({ sessionKey, agentId }, async () => ({ value: "answer" }))).aborted;

  it("is a plugin without a manifest, listening to beforeTurn", () => {
    expect(host.inspect("turn-beforeTurn-turn-limiter")).toMatchObject({ status: "ready", diagnostics: [] });
  });

  it("lets five turns of a session pass and skips the sixth, with the reason", async () => {
    for (let at = 0; at < 5; at++) expect(await turn("busy")).toBe(false);
    const outcome = await host.turn({ sessionKey: "busy", agentId: "main" }, () => expect.unreachable("the turn was skipped"));
    expect(outcome).toMatchObject({ aborted: true, by: "turn-beforeTurn-turn-limiter" });
    expect(outcome).toHaveProperty("reason", expect.stringMatching(/^at most 5 turns a minute; the next one in \d+ s$/));
  });

  it("counts each session by itself", async () => {
    for (let at = 0; at < 6; at++) await turn("one");
    expect(await turn("another")).toBe(false);
  });

  it("leaves other agents alone", async () => {
    for (let at = 0; at < 10; at++) expect(await turn("research", "research")).toBe(false);
  });
});

describe("turn-limiter's window", () => {
  afterEach(() => void vi.useRealTimers());

  it("moves: a turn is free again a minute after it began, and refused ones are not counted", async () => {
    vi.useFakeTimers();
    const { default: limit } = await import("./index.ts");
    const ask = () => limit({ sessionKey: "s", agentId: "main", workflow: "agent" });
    const answers = Array.from({ length: 5 }, () => (vi.advanceTimersByTime(10_000), ask()));
    expect(answers).toEqual(Array(5).fill(undefined));
    expect(ask()).toEqual({ abort: true, reason: "at most 5 turns a minute; the next one in 20 s" });
    vi.advanceTimersByTime(20_000);
    expect(ask()).toBeUndefined();
    expect(ask()).toMatchObject({ abort: true });
  });
});

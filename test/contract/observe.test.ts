/** Observe hooks: own copies, side by side, and nothing a handler does reaches the gateway. Facts 3–7. */
import { describe, expect, it } from "vitest";
import { actor, agentEnd, ask, patched } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, next, open, plugin, recorder, sharedHost, statuses } from "../support/host.ts";

const say = (text: string, priority: number) => `api.on("session:patch", () => console.log("${text}"), { priority: ${priority} });`;

contract("observe", (isolation) => {
  describe.each([1, 2])("on %i lanes", (lanes) => {
    const shared = sharedHost(isolation, { lanes, plugins: [actor("a", { priority: 10 }), actor("b", { priority: 5 }), actor("c")] });
    const observe = (script: Script) => shared.host.run("session:patch", patched(script));

    it("every handler gets its own copy of the event", async () => {
      const change = `event.context.patch.key = api.id; state.key = event.context.patch.key`;
      const event = patched({ a: change, b: `state.key = event.context.patch.key`, c: change });
      await shared.host.run("session:patch", event);
      expect(await Promise.all(["a", "b", "c"].map((id) => ask(shared.host, id, "state.key")))).toEqual(["a", "k", "c"]);
      expect(event.context.patch.key).toBe("k");
    });

    it("results are ignored, of whatever type", async () => {
      const outcome = await observe({ a: `return { block: true }`, b: `return 5`, c: `async return "text"` });
      expect(outcome).toMatchObject({ decision: "pass", result: undefined, by: undefined });
      expect(statuses(outcome)).toEqual(["a:ok", "b:ok", "c:ok"]);
    });

    it("one that throws does not keep the others from running", async () => {
      const outcome = await observe({ a: `throw new Error("no")`, b: `async throw new Error("no")`, c: `state.ran = true` });
      expect(outcome.decision).toBe("pass");
      expect(statuses(outcome)).toEqual(["a:failed", "b:failed", "c:ok"]);
      expect(await ask(shared.host, "c", "state.ran")).toBe(true);
    });

    it("handlers run side by side: one that waits for ever holds up none behind it", async () => {
      const wait = `async await new Promise((r) => setTimeout(r, 300))`;
      const outcome = await observe({ a: wait, b: wait, c: wait });
      expect(statuses(outcome)).toEqual(["a:ok", "b:ok", "c:ok"]);
      const [a, b, c] = outcome.calls.map((call) => call.wallMs);
      expect(Math.max(a!, b!, c!)).toBeLessThan(550);
    });
  });

  it("handlers of one lane start in priority order", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin("p", say("low", -1) + say("high", 9) + say("mid", 0)),
        plugin("end", `api.on("session:patch", () => console.log("end"), { priority: -2 });`),
      ],
    });
    const lines: string[] = [];
    host.on("log", ({ text }) => lines.push(text));
    const end = next(host, "log", ({ text }) => text === "end");
    await host.run("session:patch", patched({}));
    await end;
    expect(lines).toEqual(["high", "mid", "low", "end"]);
  });

  it("two handlers of a plugin can wait for each other", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin(
          "pair",
          `let go; const gone = new Promise((r) => (go = r)); api.on("session:patch", async () => { await gone; }); api.on("session:patch", async () => { go(); await gone; });`,
        ),
        plugin("third", `api.on("session:patch", () => {});`),
      ],
    });
    expect(statuses(await host.run("session:patch", patched({})))).toEqual(["pair:ok", "pair:ok", "third:ok"]);
  });

  it("a handler that is stopped takes the pending ones of its plugin with it, named, and no others", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin("bad", `api.on("session:patch", () => new Promise(() => {})); api.on("session:patch", () => { for (;;); });`),
        plugin("good", `api.on("session:patch", () => {});`),
      ],
    });
    const outcome = await host.run("session:patch", patched({}));
    expect(statuses(outcome)).toEqual(["bad:crashed", "bad:cpu", "good:ok"]);
    expect(outcome.calls[0]?.error?.code).toBe("ERR_CALL_REPLACED");
  });

  describe("emit", () => {
    const log = recorder();
    const shared = sharedHost(isolation, { logger: log.logger, plugins: [actor("a"), actor("b", { on: ["session:patch"] })] });

    it("returns at once and delivers the event", async () => {
      const told = next(shared.host, "log", ({ text }) => text === "heard");
      expect(shared.host.emit("session:patch", patched({ b: `console.log("heard")` }))).toBeUndefined();
      expect(await told).toMatchObject({ plugin: "b" });
    });

    it("never throws: a mistake is logged, and a failing handler is in the run's fact", async () => {
      expect(() => shared.host.emit("no_such_hook" as never, {} as never)).not.toThrow();
      expect(() => shared.host.emit("agent_end", { messages: "no" } as never)).not.toThrow();
      const run = next(shared.host, "run", ({ outcome }) => outcome.hook === "agent_end");
      shared.host.emit("agent_end", agentEnd({ a: `throw new Error("no")` }));
      expect(statuses((await run).outcome)).toEqual(["a:failed"]);
      const errors = log.lines.filter(({ level }) => level === "error");
      expect(errors.map(({ fields }) => (fields.err as { code?: string }).code)).toEqual(["ERR_HOOK_UNKNOWN", "ERR_EVENT_INVALID"]);
    });
  });
});

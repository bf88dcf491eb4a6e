/** Sync hooks: the caller blocks for the answer, handlers chain, and nothing may wait. Facts 73 and 74. */
import { readdirSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { actor, ask, persist, sending } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { folder } from "../support/files.ts";
import { contract, open, plugin, sharedHost, statuses } from "../support/host.ts";

const add = (text: string) => `return { message: { text: event.message.text + "${text}" } }`;

contract("sync", (isolation) => {
  describe.each([1, 2])("on %i lanes", (lanes) => {
    const shared = sharedHost(isolation, {
      lanes,
      plugins: [actor("a", { priority: 10 }), actor("b", { priority: 5, hooks: { cpuMs: 60 } }), actor("c")],
    });
    const { runSync, run } = {
      runSync: (script: Script) => shared.host.runSync("tool_result_persist", persist(script)),
      run: (script: Script) => shared.host.run("tool_result_persist", persist(script)),
    };

    it("each handler sees the message that the one before it returned", () => {
      const outcome = runSync({ a: add("+A"), b: add("+B"), c: add("+C") });
      expect(outcome).toMatchObject({ decision: "pass", result: { message: { text: "orig+A+B+C" } } });
      expect(statuses(outcome)).toEqual(["a:ok", "b:ok", "c:ok"]);
    });

    it("a handler that changes event.message in place and returns nothing counts as returning it", () => {
      const outcome = runSync({
        a: `event.message.text += "+A"`,
        b: `return { message: { text: event.message.text + "+B" } }`,
        c: `event.message.more = 1`,
      });
      expect(outcome.result).toEqual({ message: { text: "orig+A+B", more: 1 } });
    });

    it("a handler that leaves the event alone and returns nothing changes nothing", () => {
      expect(runSync({ a: `void event.message.text`, b: `return null` }).result).toBeUndefined();
    });

    it("a returned message wins over one changed in place", () => {
      expect(runSync({ a: `event.message.text = "in place"; return { message: { text: "returned" } }` }).result).toEqual({
        message: { text: "returned" },
      });
    });

    it("a promise is ignored and reported, and the message stands", () => {
      const outcome = runSync({
        a: `async event.message.text = "late"; return { message: { text: "late" } }`,
        c: `return { message: { text: event.message.text + "+C" } }`,
      });
      expect(outcome.result).toEqual({ message: { text: "orig+C" } });
      expect(outcome.calls[0]).toMatchObject({ plugin: "a", status: "failed", error: { code: "ERR_CALL_ASYNC" } });
    });

    it("a promise that rejects is ignored in the same way", () => {
      expect(runSync({ b: `async throw new Error("late")` }).calls[1]).toMatchObject({
        status: "failed",
        error: { code: "ERR_CALL_ASYNC" },
      });
    });

    it("a thenable is a promise", () => {
      expect(runSync({ a: `return { then() {} }` }).calls[0]).toMatchObject({ status: "failed", error: { code: "ERR_CALL_ASYNC" } });
    });

    it("a handler that throws is passed over", () => {
      const outcome = runSync({ a: `throw new Error("no")`, b: `return { message: { text: "b" } }` });
      expect(outcome.result).toEqual({ message: { text: "b" } });
      expect(statuses(outcome)).toEqual(["a:failed", "b:ok", "c:ok"]);
    });

    it("the caller's event is not touched", () => {
      const event = persist({ a: `event.message.text = "changed"` });
      shared.host.runSync("tool_result_persist", event);
      expect(event.message).toEqual({ text: "orig" });
    });

    it("the same hook can be awaited, with the same rules", async () => {
      const outcome = await run({
        a: `event.message.text += "+A"`,
        b: `async return {}`,
        c: `return { message: { text: event.message.text + "+C" } }`,
      });
      expect(outcome.result).toEqual({ message: { text: "orig+A+C" } });
      expect(statuses(outcome)).toEqual(["a:ok", "b:failed", "c:ok"]);
    });

    it("works while other runs are in flight, and they go on afterwards", async () => {
      const flying = Array.from({ length: 50 }, (_, i) =>
        shared.host.run(
          "message_sending",
          sending({ a: `async await new Promise((r) => setTimeout(r, ${i % 7})); return { content: event.content + "!" }` }, `${i}`),
          { channelId: "chat" },
        ),
      );
      for (let i = 0; i < 20; i++) expect(runSync({ b: `return { message: { i: ${i} } }` }).result).toEqual({ message: { i } });
      const outcomes = await Promise.all(flying);
      expect(outcomes.map(({ result }) => result?.content)).toEqual(outcomes.map((_, i) => `${i}!`));
    });

    it("an aborted run stays aborted when a synchronous one came in between", async () => {
      const controller = new AbortController();
      const script = { c: `async await new Promise((r) => setTimeout(r, 60)); state.wentOn = true` };
      const running = shared.host.run("message_sending", sending(script), { channelId: "chat" }, { signal: controller.signal });
      const rejected = running.catch((error: Error) => error.name);
      for (let i = 0; i < 20; i++) runSync({});
      controller.abort();
      expect(await rejected).toBe("AbortError");
      await shared.host.run("message_sending", sending({ c: `async await new Promise((r) => setTimeout(r, 120))` }), { channelId: "chat" });
      expect(await ask(shared.host, "c", "state.wentOn")).toBeNull();
    });

    it("an endless loop is stopped by its budget and the next call works", () => {
      const outcome = runSync({ b: `for (;;);`, c: `return { message: { text: "c" } }` });
      expect(outcome.calls[1]).toMatchObject({ plugin: "b", status: "cpu", error: { code: "ERR_CALL_CPU" } });
      expect(outcome.result).toEqual({ message: { text: "c" } });
      expect(runSync({ b: `return { message: { text: "again" } }` }).result).toEqual({ message: { text: "again" } });
    });
  });

  it("no file is made for it, nor a socket that others could reach", async () => {
    // A temporary folder of its own: other tests, and other people, use the common one.
    const temporary = folder({});
    vi.stubEnv("TMPDIR", temporary);
    await using host = await open(isolation, { lanes: 2, plugins: [actor("a"), actor("b")] });
    expect(readdirSync(temporary)).toEqual([]);
    host.runSync("tool_result_persist", persist({ a: `return {}`, b: `return {}` }));
    vi.unstubAllEnvs();
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("a plugin that listens only after a reload is heard", async () => {
    await using host = await open(isolation, {
      plugins: [plugin("late", `globalThis.n = 0; api.on("tool_result_persist", (e) => ({ message: { n: ++globalThis.n } }));`)],
    });
    await host.reload("late");
    expect(host.runSync("tool_result_persist", persist({})).result).toEqual({ message: { n: 1 } });
  });
});

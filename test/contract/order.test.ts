/** The order of handlers: priority, ties, registration, plugins, lanes. Facts 1 and 4 of the conformance list. */
import { describe, expect, it } from "vitest";
import { contract, open, plugin, sharedHost } from "../support/host.ts";

const tag = (text: string, options = "") => `api.on("message_sending", (e) => ({ content: e.content + "${text}" })${options});`;

const listen = (key: string, priority: number) => `api.registerHook("${key}", () => {}, { priority: ${priority} });`;

contract("order", (isolation) => {
  describe.each([1, 3])("on %i lanes", (lanes) => {
    const shared = sharedHost(isolation, {
      lanes,
      plugins: [
        plugin("one", tag("a", ", { priority: -1 }") + tag("b") + tag("c", ", { priority: 1 }") + tag("d", ", { priority: 0 }")),
        plugin("two", tag("e") + tag("f", ", { priority: 100 }")),
        plugin("three", tag("g", ", { priority: -0.5 }") + tag("h", ", { priority: 1 }")),
        plugin("four", tag("i", ", { priority: 0 }") + tag("j", ", { priority: -1 }")),
      ],
    });

    it("higher priority runs first, unset counts as 0, ties keep the order of registration, then of plugins", async () => {
      const outcome = await shared.host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" });
      expect(outcome.result?.content).toBe("fchbdeigaj");
    });

    it("the calls of an outcome are listed in the order in which the handlers ran", async () => {
      const { calls } = await shared.host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" });
      expect(calls.map((call) => call.plugin)).toEqual("two one three one one two four three one four".split(" "));
      expect(calls.map((call) => call.priority)).toEqual([100, 1, 1, 0, 0, 0, 0, -0.5, -1, -1]);
      expect(new Set(calls.map((call) => call.status))).toEqual(new Set(["ok"]));
    });

    it("runs that are in flight together do not disturb each other's order", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, run) => shared.host.run("message_sending", { to: "x", content: `${run}:` }, { channelId: "chat" })),
      );
      expect(outcomes.map((outcome) => outcome.result?.content)).toEqual(outcomes.map((_, run) => `${run}:fchbdeigaj`));
    });
  });

  it("an asynchronous handler holds up those behind it", async () => {
    await using host = await open(isolation, {
      lanes: 2,
      plugins: [
        plugin(
          "slow",
          `api.on("message_sending", async (e) => { await new Promise((r) => setTimeout(r, 20)); return { content: e.content + "1" }; });`,
        ),
        plugin("other-lane", `api.on("message_sending", (e) => ({ content: e.content + "2" }));`),
        plugin("same-lane", `api.on("message_sending", async (e) => { await null; return { content: e.content + "3" }; });`),
      ],
    });
    expect((await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" })).result?.content).toBe("123");
  });

  it("listeners of a family hear an event before those of the event itself, whatever their priorities", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin("exact", listen("session:patch", 50)),
        plugin("family", listen("session", -50)),
        plugin("both", `api.registerHook(["session:patch", "session"], () => {});`),
      ],
    });
    const { calls } = await host.run("session:patch", {
      type: "session",
      action: "patch",
      sessionKey: "k",
      context: { sessionEntry: {}, patch: { key: "k" } },
    });
    expect(calls.map((call) => call.plugin)).toEqual(["both", "family", "exact", "both"]);
  });
});

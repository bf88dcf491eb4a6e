/** Questions to the host: it takes so many of a plugin's at a time, the rest waits its turn inside the cell, and none is lost. */
import { expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { contract, open, plugin } from "../support/host.ts";

const asker = plugin(
  "asker",
  `const get = (key) => api.session.get(key).then((entry) => entry.key, (error) => error.code + " " + error.message);
   api.on("message_sending", async (event) => {
     const keys = Array.from({ length: Number(event.content) }, (_, i) => event.to + i);
     return { metadata: { answers: await Promise.all(keys.map(get)) } };
   });`,
  { grants: { session: ["get"] }, hooks: { cpuMs: 2_000 } },
);
const answersOf = (outcome: { result?: { metadata?: Record<string, unknown> | undefined } | undefined }) =>
  outcome.result?.metadata?.answers as string[];

/** A gateway that counts how many questions it has at once, and answers when told to. */
function gateway(gate?: Promise<void>) {
  const full = Promise.withResolvers<void>();
  let now = 0;
  let most = 0;
  return {
    most: () => most,
    /** Resolves when it has as many as the host takes. */
    full: full.promise,
    getSession: async (key: string) => {
      most = Math.max(most, ++now);
      if (now === LIMITS.pendingAsks) full.resolve();
      await gate;
      now -= 1;
      return { key };
    },
  };
}

contract("questions", (isolation) => {
  it("more than the host takes at a time wait, and are answered in their order", async () => {
    const store = gateway();
    await using host = await open(isolation, { gateway: store, plugins: [asker] });
    const runs = ["a", "b", "c"].map((to) => host.run("message_sending", { to, content: "500" }));
    for (const [at, outcome] of (await Promise.all(runs)).entries())
      expect(answersOf(outcome)).toEqual(Array.from({ length: 500 }, (_, i) => `${"abc"[at]}${i}`));
    expect(store.most()).toBe(LIMITS.pendingAsks);
  });

  it("past the end of the queue a question fails with a code, and those in the queue are answered", async () => {
    const store = gateway();
    await using host = await open(isolation, { gateway: store, plugins: [asker] });
    const room = LIMITS.pendingAsks + LIMITS.waitingAsks;
    const answers = answersOf(await host.run("message_sending", { to: "k", content: String(room + 10) }));
    expect(answers.slice(0, room)).toEqual(Array.from({ length: room }, (_, i) => `k${i}`));
    expect(new Set(answers.slice(room))).toEqual(
      new Set([`ERR_SERVICE_BUSY the plugin already has ${room} questions to the host pending`]),
    );
    expect(answersOf(await host.run("message_sending", { to: "again", content: "1" }))).toEqual(["again0"]);
  });

  it("a call that is given up takes its waiting questions with it, and makes room", async () => {
    const gate = Promise.withResolvers<void>();
    const store = gateway(gate.promise);
    await using host = await open(isolation, { gateway: store, plugins: [asker] });
    const controller = new AbortController();
    const many = host.run("message_sending", { to: "k", content: "1000" }, { channelId: "c" }, { signal: controller.signal });
    await store.full;
    controller.abort(new Error("enough"));
    await expect(many).rejects.toThrow("enough");
    gate.resolve();
    expect(answersOf(await host.run("message_sending", { to: "x", content: "100" }))).toEqual(
      Array.from({ length: 100 }, (_, i) => `x${i}`),
    );
    expect(store.most()).toBe(LIMITS.pendingAsks);
  });
});

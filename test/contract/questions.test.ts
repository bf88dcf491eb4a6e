/** Questions to the host: it takes so many of a plugin's at a time, the rest waits its turn inside the cell, and none is lost. */
import { expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { contract, offered, open, plugin } from "../support/host.ts";

/** As many as one call may ask. */
const MANY = LIMITS.call.hostCalls;
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`);

const asker = plugin(
  "asker",
  `const get = (key) => api.session.get(key).then((entry) => entry.key, (error) => error.code + " " + error.message);
   api.on("message_sending", async (event) => {
     const keys = Array.from({ length: Number(event.content) }, (_, i) => event.to + i);
     return { metadata: { answers: await Promise.all(keys.map(get)) } };
   });`,
  { grants: { session: ["get"] }, hooks: { cpuMs: 2_000 }, limits: { gatewayMs: 1_000 } },
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
      if (now === LIMITS.requests.pending) full.resolve();
      await gate;
      now -= 1;
      return { key };
    },
  };
}

contract("questions", (isolation) => {
  it("more than the host takes at a time wait, and are answered in their order", async () => {
    const store = gateway();
    await using host = await open(isolation, { gateway: offered(store), plugins: [asker] });
    const runs = "abcdefgh"
      .split("")
      .map(async (to) => answersOf(await host.run("message_sending", { to, content: String(MANY) }, { channelId: "chat" })));
    for (const [at, answers] of (await Promise.all(runs)).entries()) expect(answers).toEqual(numbered("abcdefgh"[at]!, MANY));
    expect(store.most()).toBe(LIMITS.requests.pending);
  });

  it("past the end of the queue a question fails with a code, and those in the queue are answered", async () => {
    const gate = Promise.withResolvers<void>();
    await using host = await open(isolation, { gateway: offered(gateway(gate.promise)), plugins: [asker] });
    const room = LIMITS.requests.pending + LIMITS.requests.waiting;
    const full = Math.floor(room / MANY);
    const ask = (to: string) => host.run("message_sending", { to, content: String(MANY) }, { channelId: "chat" }).then(answersOf);
    const waiting = Array.from({ length: full + 1 }, (_, at) => ask(`${at}-`));
    // For this one there is no room at all: it is answered while the others wait.
    const refused = await ask("late-");
    expect(new Set(refused)).toEqual(new Set([`ERR_SERVICE_BUSY the plugin already has ${room} requests to the host pending`]));
    gate.resolve();
    const answers = (await Promise.all(waiting)).flat();
    const wanted = Array.from({ length: full + 1 }, (_, at) => numbered(`${at}-`, MANY)).flat();
    expect(answers.slice(0, room)).toEqual(wanted.slice(0, room));
    expect(new Set(answers.slice(room))).toEqual(new Set(refused));
    expect(await ask("again-")).toEqual(numbered("again-", MANY));
  });

  it("a call that is given up takes its waiting questions with it, and makes room", async () => {
    const gate = Promise.withResolvers<void>();
    const store = gateway(gate.promise);
    await using host = await open(isolation, { gateway: offered(store), plugins: [asker] });
    const controller = new AbortController();
    const many = host.run("message_sending", { to: "k", content: String(MANY) }, { channelId: "c" }, { signal: controller.signal });
    await store.full;
    controller.abort(new Error("enough"));
    await expect(many).rejects.toThrow("enough");
    gate.resolve();
    expect(answersOf(await host.run("message_sending", { to: "x", content: "100" }, { channelId: "chat" }))).toEqual(
      Array.from({ length: 100 }, (_, i) => `x${i}`),
    );
    expect(store.most()).toBe(LIMITS.requests.pending);
  });
});

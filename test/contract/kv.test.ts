/**
 * `api.kv`, asked from inside a cell: what it gives, what it refuses, that nobody reaches another's entries, that it survives restarts,
 * and that a loop through it is stopped while counting is not.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Host, SessionPatch } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { folder } from "../support/files.ts";
import { contract, next, open, plugin, recorder, sharedHost } from "../support/host.ts";
import type { Isolation } from "../support/host.ts";

/** Runs whatever a test wants, with `api` in scope; an error becomes its code, or its name. */
const DOER = `api.on("message_sending", async ({ content }) => {
  const settle = (work) => Promise.resolve().then(work).catch((error) => error.code ?? error.name + ": " + error.message);
  return { metadata: { answer: await new Function("kv", "settle", "api", "return (async () => {" + content + "})()")(api.kv, settle, api) } };
});`;

const doer = (id: string, kv?: true | { maxBytes: number }) => plugin(id, DOER, { ...(kv && { grants: { kv } }), hooks: { cpuMs: 2_000 } });

async function ask(host: Pick<Host, "run">, id: string, content: string): Promise<unknown> {
  const outcome = await host.run("message_sending", { to: "u", content }, { channelId: "chat" }, { plugin: id });
  expect(outcome.calls).toMatchObject([{ status: "ok" }]);
  return outcome.result?.metadata?.answer;
}

const restarted = (isolation: Isolation, stateDir: string, log = recorder()) =>
  open(isolation, { config: { stateDir }, plugins: [doer("@scope/one", true)], logger: log.logger });

contract("kv", (isolation) => {
  const shared = sharedHost(isolation, { plugins: [doer("a", true), doer("b", true), doer("none"), doer("small", { maxBytes: 200 })] });

  it("keeps data, lists it in order and page by page, and forgets it", async () => {
    const { host } = shared;
    expect(
      await ask(
        host,
        "a",
        `await kv.set("user:2", { name: "Ed", tags: ["x", null, 1.5] });
         await kv.set("user:10", "ten");
         await kv.set("user:1", 0);
         await kv.set("__proto__", { ["__proto__"]: 1 });
         await kv.set("zero\\0byte", false);
         const first = await kv.list({ prefix: "user:", limit: 2 });
         return [
           await kv.get("user:2"), await kv.get("none") === undefined, await kv.getMany(["user:1", "none", "user:10"]),
           first, await kv.list({ prefix: "user:", after: first.next, limit: 2 }), await kv.list({ values: false }),
           JSON.stringify(await kv.get("__proto__")),
           await kv.delete("user:1"), await kv.delete("user:1"), await kv.get("user:1") === undefined,
         ];`,
      ),
    ).toEqual([
      { name: "Ed", tags: ["x", null, 1.5] },
      true,
      [0, null, "ten"],
      {
        entries: [
          { key: "user:1", value: 0 },
          { key: "user:10", value: "ten" },
        ],
        next: "user:10",
      },
      { entries: [{ key: "user:2", value: { name: "Ed", tags: ["x", null, 1.5] } }] },
      { entries: ["__proto__", "user:1", "user:10", "user:2", "zero\0byte"].map((key) => ({ key })) },
      '{"__proto__":1}',
      true,
      false,
      true,
    ]);
  });

  it("updates and increments at the same time lose nothing", async () => {
    const { host } = shared;
    const many = `const slow = async (old = 0) => { await new Promise((resolve) => setTimeout(resolve, 1)); return old + 1; };
      await Promise.all(Array.from({ length: 20 }, (_, i) => [kv.increment("n", 2), kv.update("u", slow)]).flat());`;
    await Promise.all([1, 2, 3].map(() => ask(host, "a", many)));
    expect(await ask(host, "a", `return kv.getMany(["n", "u"])`)).toEqual([120, 60]);
    expect(
      await ask(
        host,
        "a",
        `return [
           await kv.update("u", () => undefined), await kv.get("u"), await kv.update("new", (old) => [old === undefined]), await kv.increment("n", -0.5),
           await settle(() => kv.update("u", () => { throw new RangeError("no") })), await kv.get("u"),
         ]`,
      ),
    ).toEqual([60, 60, [true], 119.5, "RangeError: no", 60]);
  });

  it("a plugin has no way to another's entries, and without a grant none at all", async () => {
    const { host } = shared;
    await ask(host, "a", `await kv.set("mine", "a"); await kv.set("../b/mine", "a")`);
    expect(await ask(host, "b", `return [(await kv.get("mine")) ?? "nothing", await kv.list({ prefix: "" })]`)).toEqual([
      "nothing",
      { entries: [] },
    ]);
    expect(
      await ask(
        host,
        "none",
        `return Promise.all([settle(() => kv.get("mine")), settle(() => kv.set("mine", 1)), settle(() => kv.list())])`,
      ),
    ).toEqual(Array(3).fill("ERR_GRANT_MISSING"));
  });

  it("what is no key, no data, too long or out of range is refused with a code, and writes nothing", async () => {
    const { host } = shared;
    const refused = await ask(
      host,
      "b",
      `const long = "é".repeat(${LIMITS.kv.keyBytes / 2 + 1});
       const tries = {
         "no key": () => kv.set("", 1), "a number as key": () => kv.set(7, 1), "no key at all": () => kv.get(), "an object as key": () => kv.get({ toString: () => "x" }),
         "a long key": () => kv.set(long, 1), "half a character": () => kv.set("\\ud83e", 1), "half a prefix": () => kv.list({ prefix: "\\udd9e" }),
         "a long value": () => kv.set("k", "é".repeat(${LIMITS.kv.valueBytes / 2})),
         "a huge value": () => kv.set("k", "x".repeat(${LIMITS.call.eventBytes})),
         "a negative lifetime": () => kv.set("k", 1, { ttlMs: -1 }), "none": () => kv.set("k", 1, { ttlMs: 0 }), "an endless one": () => kv.set("k", 1, { ttlMs: Infinity }),
         "no number": () => kv.set("k", 1, { ttlMs: NaN }), "too long a one": () => kv.set("k", 1, { ttlMs: 1e300 }), "text as lifetime": () => kv.set("k", 1, { ttlMs: "1" }),
         "a huge page": () => kv.list({ limit: 1e9 }), "an empty page": () => kv.list({ limit: 0 }), "half an entry": () => kv.list({ limit: 1.5 }),
         "too many keys": () => kv.getMany(Array(${LIMITS.kv.keys + 1}).fill("k")), "no keys": () => kv.getMany([]),
         "text as increment": () => kv.increment("k", "1"), "an endless increment": () => kv.increment("k", Infinity), "a huge increment": () => kv.increment("k", 2 ** 53),
         "a function": () => kv.set("k", () => 1), "undefined": () => kv.set("k"), "a bigint": () => kv.set("k", 1n), "a cycle": () => { const o = {}; o.o = o; return kv.set("k", o); },
         "no function": () => kv.update("k", 1),
       };
       const answers = {};
       for (const [name, attempt] of Object.entries(tries)) answers[name] = String(await settle(attempt)).split(":")[0];
       return [answers, await kv.list()];`,
    );
    const [answers, rest] = refused as [Record<string, string>, unknown];
    const codes = new Map(Object.entries(answers));
    for (const name of ["a function", "undefined", "a bigint", "a cycle", "no function"]) {
      expect([name, codes.get(name)]).toEqual([name, "TypeError"]);
      codes.delete(name);
    }
    expect(codes.get("a huge increment")).toBe("ERR_KV_NUMBER");
    codes.delete("a huge increment");
    // Refused inside the cell: it is longer than any question.
    expect(codes.get("a huge value")).toBe("ERR_SERVICE_SIZE");
    codes.delete("a huge value");
    expect(new Set(codes.values())).toEqual(new Set(["ERR_SERVICE_ARGUMENT"]));
    expect(rest).toEqual({ entries: [] });
    // As long as it may be, of the worst kind: each character is escaped twice.
    expect(
      await ask(
        host,
        "b",
        `const value = '"'.repeat(${LIMITS.kv.valueBytes / 2 - 1});
         await kv.set("\\0".repeat(${LIMITS.kv.keyBytes}), value);
         const keys = Array(${LIMITS.kv.keys}).fill("\\0".repeat(${LIMITS.kv.keyBytes})).with(1, "other");
         return [(await kv.get(keys[0])) === value, (await settle(() => kv.getMany(keys))), await settle(() => kv.increment(keys[0]))];`,
      ),
    ).toEqual([true, "ERR_SERVICE_SIZE", "ERR_KV_NUMBER"]);
  });

  it("past its quota a store takes nothing more, and the operator sees how full it is", async () => {
    const { host } = shared;
    expect(
      await ask(
        host,
        "small",
        `await kv.set("a", "x".repeat(97));
         return [await settle(() => kv.set("b", "x".repeat(98))), await settle(() => kv.set("b", "x".repeat(97))), await settle(() => kv.increment("c")), await kv.get("c") === undefined]`,
      ),
    ).toEqual(["ERR_KV_QUOTA", null, "ERR_KV_QUOTA", true]);
    expect(host.inspect("small").kv).toEqual({ scope: "host", maxBytes: 200, bytes: 200, keys: 2, isPersistent: false, setAside: [] });
    expect(host.inspect("none").kv).toBeUndefined();
    await ask(host, "small", `await kv.delete("a")`);
    expect(host.inspect("small").kv).toMatchObject({ bytes: 100, keys: 1 });
  });

  it("an entry is gone when its time is over", async () => {
    const { host } = shared;
    expect(
      await ask(
        host,
        "a",
        `await kv.set("brief", 1, { ttlMs: 20 });
         const before = await kv.get("brief");
         await new Promise((resolve) => setTimeout(resolve, 25));
         return [before, await kv.get("brief") ?? "gone"]`,
      ),
    ).toEqual([1, "gone"]);
  });

  it("survives restarts and reloads in a file of the plugin's own, and a broken file is set aside and reported", async () => {
    const stateDir = folder({});
    {
      await using host = await restarted(isolation, stateDir);
      await ask(host, "@scope/one", `await kv.set("kept", { yes: true }); await kv.increment("starts")`);
      await host.reload("@scope/one");
      expect(await ask(host, "@scope/one", `return kv.increment("starts")`)).toBe(2);
    }
    const [file, ...others] = readdirSync(join(stateDir, "kv"));
    expect(others).toEqual([]);
    {
      await using host = await restarted(isolation, stateDir);
      expect(host.inspect("@scope/one").kv).toMatchObject({ isPersistent: true, keys: 2 });
      expect(await ask(host, "@scope/one", `return [await kv.get("kept"), await kv.increment("starts")]`)).toEqual([{ yes: true }, 3]);
    }
    writeFileSync(join(stateDir, "kv", file!), "garbage".repeat(1_000));
    const log = recorder();
    await using host = await restarted(isolation, stateDir, log);
    expect(await ask(host, "@scope/one", `return [await kv.get("kept") ?? "gone", await kv.increment("starts")]`)).toEqual(["gone", 1]);
    const { setAside } = host.inspect("@scope/one").kv!;
    expect(setAside).toHaveLength(1);
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: "error", fields: expect.objectContaining({ plugin: "@scope/one", aside: setAside[0] }) }),
    );
  });

  it.each([
    ["an interval that runs since the plugin was loaded", "setInterval(look, 5)"],
    ["an interval of a run that is over", 'api.on("message_sending", () => void setInterval(look, 5))'],
  ])("a loop of patches through a store and %s stops at the depth limit", async (_, pump) => {
    const applied: SessionPatch[] = [];
    const patchSession = async (patch: SessionPatch) => ({ sessionEntry: { n: applied.push(patch) } });
    await using host = await open(isolation, {
      gateway: { patchSession },
      plugins: [
        plugin(
          "loop",
          `let busy = false;
           const look = async () => {
             if (busy) return;
             busy = true;
             if (await api.kv.get("wanted")) {
               await api.kv.set("wanted", false);
               await api.session.patch({ key: "agent:main:loop" }).catch((error) => api.logger.error(error.code + " " + error.message));
             }
             busy = false;
           };
           ${pump};
           api.on("session:patch", () => api.kv.set("wanted", true), { reentrant: true });`,
          { grants: { kv: true, session: ["patch"] } },
        ),
      ],
    });
    const stopped = next(host, "recursion");
    const told = next(host, "log");
    await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" });
    await host.patchSession({ key: "agent:main:loop", label: "first" });
    expect(await stopped).toMatchObject({ plugin: "loop", limit: "depth" });
    expect((await told).text).toMatch(/^ERR_RECURSION_DEPTH/);
    // The first came from outside.
    expect(applied.length).toBeLessThanOrEqual(LIMITS.causality.recursionDepth + 1);
    expect(applied.length).toBeGreaterThanOrEqual(LIMITS.causality.recursionDepth);
  });

  it("a counter that every run writes and reads refuses nobody's patches", async () => {
    const applied: SessionPatch[] = [];
    const patchSession = async (patch: SessionPatch) => ({ sessionEntry: { n: applied.push(patch) } });
    await using host = await open(isolation, {
      gateway: { patchSession },
      plugins: [
        plugin(
          "counter",
          `api.on("message_sending", async ({ to }) => {
             const n = await api.kv.increment("all");
             await api.session.patch({ key: to, label: String(n) });
             setTimeout(async () => {
               await api.kv.increment("all");
               await api.session.patch({ key: to, label: "later" }).catch((error) => api.logger.error(error.code));
             }, 1);
             return { content: "ok" };
           });
           api.on("session:patch", () => api.kv.increment("all"), { reentrant: true });`,
          { grants: { kv: true, session: ["patch"] } },
        ),
      ],
    });
    const rounds = 3 * LIMITS.causality.recursionDepth;
    const logs: string[] = [];
    host.on("log", ({ text }) => logs.push(text));
    for (let i = 0; i < rounds; i++) {
      const outcomes = await Promise.all(
        [0, 1].map((side) => host.run("message_sending", { to: `agent:main:${i}-${side}`, content: "" }, { channelId: "chat" })),
      );
      expect(outcomes.map(({ result }) => result?.content)).toEqual(["ok", "ok"]);
    }
    await expect.poll(() => applied.length, { timeout: 10_000 }).toBe(4 * rounds);
    expect(logs).toEqual([]);
  });
});

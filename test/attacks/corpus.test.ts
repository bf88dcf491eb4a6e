/** Every file of the corpus becomes a plugin that does what the file says, when it is told to. */
import { Script } from "node:vm";
import { expect, it } from "vitest";
import { thrownBy } from "../support/errors.ts";
import { open } from "../support/host.ts";
import { attack, FELT, readCorpus } from "./corpus.ts";

it("every file has a class and a source, and names are unique", () => {
  const corpus = readCorpus();
  expect(corpus.length).toBeGreaterThan(180);
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
  for (const { what, source } of corpus) {
    expect(what).toMatch(/ \/ /);
    expect(source.length).toBeGreaterThan(50);
  }
});

/** Source that no engine can read is what these are about. */
const UNREADABLE = new Set(["err-20-syntax-error", "stk-07-deep-source"]);

it("every file can be loaded, but for those that are about that, and the late families say what they expect", () => {
  const readable = readCorpus().filter(({ name }) => !UNREADABLE.has(name));
  expect(readable.filter(({ source }) => thrownBy(() => new Script(source)) !== undefined).map(({ name }) => name)).toEqual([]);
  const late = readable.filter(({ name }) => FELT.test(name));
  expect(late.length).toBeGreaterThanOrEqual(30);
  expect(late.filter(({ expect: expected }) => expected.length === 0)).toEqual([]);
  expect(() => attack("x", "// @expect: praised")).toThrow('@expect says "praised"');
});

it("a file that says how its source is made is made that way", () => {
  expect(attack("x", "// @class: X / y\n// @generate: 'ab'.repeat(3)\nhook(() => 1);").source).toBe("ababab");
  expect(() => attack("x", "// @generate: process.exit()")).toThrow("a recipe of an unknown kind");
});

it("a plugin made of a file has a hook for its own tool alone, a granted service, and a logger", async () => {
  const body = `hook(async (event) => { host.log("said"); return { params: { n: event.n, pong: await host.call("ping") } }; });`;
  await using host = await open("thread", {
    plugins: [{ id: "made", source: attack("made", body).source, grants: { session: ["get"] } }],
    gateway: { getSession: async (key) => ({ value: key }) },
  });
  const logged = Promise.withResolvers<string>();
  host.on("log", ({ text }) => logged.resolve(text));
  const own = await host.run("before_tool_call", { toolName: "made", params: {}, n: 7 });
  expect(own.result?.params).toEqual({ n: 7, pong: "attack:ping:0" });
  expect(await logged.promise).toBe("said");
  expect((await host.run("before_tool_call", { toolName: "other", params: {} })).calls[0]?.status).toBe("skipped");
});

it("an escape tells what it found", async () => {
  await using host = await open("thread", {
    plugins: [{ id: "esc-00", source: attack("esc-00", `hook(() => [typeof process]);`).source }],
  });
  const logged = Promise.withResolvers<string>();
  host.on("log", ({ text }) => logged.resolve(text));
  await host.run("before_tool_call", { toolName: "esc-00", params: {} });
  expect(await logged.promise).toBe('loot ["undefined"]');
});

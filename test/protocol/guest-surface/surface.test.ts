/** The guest's world: what the table names exists, is made on first use, and can be replaced by the plugin. */
import { describe, expect, it } from "vitest";
import { GUEST_GLOBALS } from "../../../src/protocol/guest-surface/surface.ts";
import { plugin, sharedHost } from "../../support/host.ts";

const NAMES = Object.keys(GUEST_GLOBALS);
/** Those that are no classes. */
const VALUES = new Set(["atob", "btoa", "console", "crypto", "fetch", "global", "performance", "process", "self", "structuredClone"]);

const asked = (id: string, body: string) =>
  plugin(
    id,
    `const names = ${JSON.stringify(NAMES)}; const answer = (() => { ${body} })(); api.on("message_sending", (event) => event.to === "${id}" ? { content: JSON.stringify(answer) } : undefined);`,
    { hooks: { cpuMs: 5_000 } },
  );

describe("the guest's world", () => {
  const shared = sharedHost("process", {
    plugins: [
      asked(
        "untouched",
        `return names.map((name) => { const { get, set, configurable, enumerable } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {}; return [name, typeof get, typeof set, configurable, enumerable]; });`,
      ),
      asked(
        "touched",
        `return names.map((name) => { const value = globalThis[name]; const { value: found, writable, configurable } = Object.getOwnPropertyDescriptor(globalThis, name); return [name, typeof value, found === value && globalThis[name] === value, writable, configurable]; });`,
      ),
      asked("named", `return names.filter((name) => typeof globalThis[name] === "function").map((name) => [name, globalThis[name].name]);`),
      asked(
        "assigned",
        `return names.filter((name) => { globalThis[name] = 5; return (0, eval)(name) !== 5 || delete globalThis[name] !== true || name in globalThis; });`,
      ),
      asked(
        "defined",
        `return names.filter((name) => { Object.defineProperty(globalThis, name, { value: 7 }); return globalThis[name] !== 7; });`,
      ),
      asked("declared", `(0, eval)("var URL = 1; function fetch() { return 2; }"); return [URL, fetch()];`),
      asked(
        "shadowed",
        `const URL = class {}; function structuredClone() { return "mine"; } return [structuredClone(), new URL() instanceof globalThis.URL];`,
      ),
      asked(
        "robbed",
        `delete globalThis.DOMException; delete globalThis.Event; delete globalThis.TextEncoder; globalThis.TextDecoder = undefined;
        const kept = AbortSignal.abort().reason; return [kept.name, new URL("http://é/").href, typeof kept.stack];`,
      ),
    ],
  });
  const answerOf = async (id: string) =>
    JSON.parse((await shared.host.run("message_sending", { to: id, content: "" }, { channelId: "chat" })).result!.content!) as unknown;

  it("every global of the table is there, and nothing of it is made before it is touched", async () => {
    expect(NAMES.length).toBeGreaterThan(40);
    expect(await answerOf("untouched")).toEqual(NAMES.map((name) => [name, "function", "function", true, false]));
  });

  it("once touched it is a plain property that can be written and removed, as in Node", async () => {
    const found = (await answerOf("touched")) as unknown[][];
    expect(found).toEqual(found.map(([name, type]) => [name, type, true, true, true]));
    expect(found.filter(([, type]) => type !== "function" && type !== "object")).toEqual([]);
    expect(found.map(([name, type]) => [name, type])).toEqual(
      // Node has no `self` and, without a flag, no `EventSource`; browsers and workers have.
      NAMES.map((name) => [
        name,
        name === "self" ? "object" : name === "EventSource" ? "function" : typeof (globalThis as Record<string, unknown>)[name],
      ]),
    );
  });

  it("classes and functions have the names they are known by", async () => {
    const found = (await answerOf("named")) as string[][];
    expect(found).toEqual(found.map(([name]) => [name, name]));
    expect(new Set(found.map(([name]) => name)).isSupersetOf(new Set(NAMES.filter((name) => !VALUES.has(name))))).toBe(true);
  });

  it("a plugin that assigns, defines or declares one of its own has its own", async () => {
    expect(await answerOf("assigned")).toEqual([]);
    expect(await answerOf("defined")).toEqual([]);
    expect(await answerOf("declared")).toEqual([1, 2]);
    expect(await answerOf("shadowed")).toEqual(["mine", false]);
  });

  it("the library does not depend on globals that a plugin removed", async () => {
    expect(await answerOf("robbed")).toEqual(["AbortError", "http://xn--9ca/", "string"]);
  });
});

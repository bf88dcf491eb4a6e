/** The quarantine file: what is written is read again, by any process, and a broken one is set aside and never a crash. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { QuarantineFile } from "../../../src/host/blame/quarantine-file.ts";
import type { QuarantineEntry } from "../../../src/host/blame/quarantine-file.ts";
import { folder } from "../../support/files.ts";
import { recorder } from "../../support/host.ts";
import type { Line } from "../../support/host.ts";

const ENTRY: QuarantineEntry = {
  bundle: "sha256-abc",
  state: "quarantined",
  why: "it failed again and again",
  since: 1_700_000_000_000,
  opens: [1, 2, 3],
  kills: [],
  loadKills: 0,
  handlers: [{ hook: "before_tool_call", options: { priority: 5, matcher: ["web_*"] } }],
};

let dir: string;
let lines: Line[];
let file: QuarantineFile;

function fresh(): QuarantineFile {
  const recorded = recorder();
  lines = recorded.lines;
  return new QuarantineFile(dir, recorded.logger);
}

beforeEach(() => {
  // Not there yet: it is made when there is something to keep.
  dir = join(folder({}), "state", "creel");
  file = fresh();
});

it("is empty when there is none, and nothing is made by reading", () => {
  expect(file.read()).toEqual(new Map());
  expect(existsSync(dir)).toBe(false);
  expect(lines).toEqual([]);
});

it("gives back what was written, also to another process", () => {
  file.set("@acme/guard", ENTRY);
  file.set("constructor", { ...ENTRY, state: "open", until: 1_700_000_030_000 });
  expect(fresh().read()).toEqual(
    new Map<string, QuarantineEntry>([
      ["@acme/guard", ENTRY],
      ["constructor", { ...ENTRY, state: "open", until: 1_700_000_030_000 }],
    ]),
  );
  expect(JSON.parse(readFileSync(file.path, "utf8"))).toMatchObject({ version: 1, plugins: { "@acme/guard": { bundle: "sha256-abc" } } });
});

it("forgets what there is no more to say about", () => {
  file.set("a", ENTRY);
  file.set("b", ENTRY);
  file.set("a", undefined);
  expect([...fresh().read().keys()]).toEqual(["b"]);
});

it("does not write when there was nothing to forget", () => {
  file.set("a", undefined);
  expect(existsSync(file.path)).toBe(false);
});

it("keeps what another host wrote meanwhile", () => {
  const other = fresh();
  file.set("a", ENTRY);
  other.set("b", ENTRY);
  file.set("a", { ...ENTRY, state: "open" });
  expect(Object.fromEntries(file.read())).toMatchObject({ a: { state: "open" }, b: { state: "quarantined" } });
});

it("leaves no other file behind", () => {
  for (let time = 0; time < 10; time++) file.set(`p${time}`, ENTRY);
  expect(readdirSync(dir)).toEqual(["quarantine.json"]);
});

it("of what a plugin registered only the options we know are kept", () => {
  file.set("a", { ...ENTRY, handlers: [{ hook: "x", options: { priority: 1, junk: "x".repeat(1e6) } as never }] });
  expect(file.read().get("a")?.handlers).toEqual([{ hook: "x", options: { priority: 1 } }]);
  expect(readFileSync(file.path, "utf8").length).toBeLessThan(1_000);
});

describe("a broken file", () => {
  it.each([
    ["no JSON", `{"version":1,`],
    ["empty", ``],
    ["an array", `[]`],
    ["another version", JSON.stringify({ version: 2, plugins: {} })],
    ["a state that is none", JSON.stringify({ version: 1, plugins: { a: { ...ENTRY, state: "fine" } } })],
    ["a handler without a hook", JSON.stringify({ version: 1, plugins: { a: { ...ENTRY, handlers: [{ options: {} }] } } })],
    ["an id that is none", JSON.stringify({ version: 1, plugins: { "../a": ENTRY } })],
  ])("(%s) is set aside with a warning, and the next one is good", (_, text) => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(file.path, text);
    expect(file.read()).toEqual(new Map());
    expect(lines).toMatchObject([{ level: "warn", message: "the quarantine file is broken and was set aside" }]);
    const [aside, ...more] = readdirSync(dir);
    expect(more).toEqual([]);
    expect(aside).toMatch(/^quarantine\.json\.broken-\d+$/);
    expect(readFileSync(join(dir, aside!), "utf8")).toBe(text);
    file.set("b", ENTRY);
    expect([...fresh().read().keys()]).toEqual(["b"]);
  });

  it("is no reason to lose what is in force: a write sets it aside too", () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(file.path, "{");
    file.set("a", ENTRY);
    expect([...fresh().read().keys()]).toEqual(["a"]);
    expect(readdirSync(dir)).toHaveLength(2);
  });
});

describe("a folder that cannot be used", () => {
  it("is complained about, and nothing is thrown", () => {
    const blocked = folder({ state: "a file where the folder should be" });
    const recorded = recorder();
    const none = new QuarantineFile(join(blocked, "state"), recorded.logger);
    expect(none.read()).toEqual(new Map());
    none.set("a", ENTRY);
    expect(recorded.lines.map(({ level }) => level)).toEqual(["error", "error"]);
  });

  it("a file that cannot be read is not overwritten", () => {
    mkdirSync(file.path, { recursive: true });
    file.set("a", ENTRY);
    expect(lines).toMatchObject([{ level: "error", message: "the quarantine file cannot be read" }]);
    expect(readdirSync(dir)).toEqual(["quarantine.json"]);
  });
});

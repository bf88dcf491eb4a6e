/** `creel.json` is the operator's file: an edit changes what was asked for, and nothing else. */
import { chmodSync, linkSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editConfig } from "../../../src/install/config/config-edit.ts";
import { applied, editsToRemove, editsToSet, removeIn, setIn } from "../../../src/install/config/jsonc-edit.ts";
import { parseJsonc } from "../../../src/text/jsonc.ts";
import { readConfig } from "../../../src/discovery/config-file.ts";
import { thrownBy } from "../../support/errors.ts";
import { folder } from "../../support/files.ts";
import { diceOf, value, written } from "../jsonc-world.ts";
import type { Dice, Spot, Written } from "../jsonc-world.ts";

/**
 * Another reader than ours: JSON with comments is an expression of JavaScript. Without `JSON.parse`: that of Node 24.21 takes the key `"` for `\\` when an object of the same shape
 * had that one before.
 */
const evaluated = (text: string): unknown => runInThisContext(`(${text.replace(/^\ufeff/, "")}\n)`);

const RUNS = { numRuns: 400 };
const seed = fc.integer();

function parentOf(data: unknown, path: Spot["path"]): any {
  return path.slice(0, -1).reduce((inner: any, step) => inner[step], data);
}

function withSet(data: unknown, path: Spot["path"], to: unknown): unknown {
  if (path.length === 0) return to;
  const copy = structuredClone(data);
  parentOf(copy, path)[path.at(-1)!] = to;
  return copy;
}

function withoutPart(data: unknown, path: Spot["path"]): unknown {
  const copy = structuredClone(data);
  const parent = parentOf(copy, path);
  const last = path.at(-1)!;
  if (typeof last === "number") parent.splice(last, 1);
  else delete parent[last];
  return copy;
}

const marksIn = (text: string) => text.match(/«\d+»/g) ?? [];
const marksOutside = ({ comments }: Written, start: number, end: number) =>
  comments.filter(({ at }) => at < start || at >= end).map(({ mark }) => mark);
const pick = <T>(items: readonly T[], dice: Dice): T => items[dice(items.length)]!;

/** It is the same data, in the same order, to us and to others. */
function expectData(text: string, data: unknown): void {
  expect(JSON.stringify(parseJsonc(text))).toBe(JSON.stringify(data));
  expect(JSON.stringify(evaluated(text))).toBe(JSON.stringify(data));
}

const isBlank = (text: string) => /^[ \t\r\n]*$/.test(text);

describe("a text with comments", () => {
  it("is read as what it says", () => {
    fc.assert(
      fc.property(value, seed, (data, from) => {
        const { text: made } = written(data, diceOf(from));
        expectData(made, data);
        expect(JSON.stringify(parseJsonc(JSON.stringify(data)))).toBe(JSON.stringify(data));
      }),
      RUNS,
    );
  });

  it("in which a value is replaced keeps every other byte", () => {
    fc.assert(
      fc.property(value, value, seed, (data, to, from) => {
        const dice = diceOf(from);
        const before = written(data, dice);
        const { path, start, end } = pick(before.spots, dice);
        const after = setIn(before.text, path, to);
        expectData(after, withSet(data, path, to));
        if (after === before.text) return;
        expect(after.slice(0, start)).toBe(before.text.slice(0, start));
        expect(after.slice(after.length - (before.text.length - end))).toBe(before.text.slice(end));
        expect(marksIn(after)).toEqual(marksOutside(before, start, end));
      }),
      RUNS,
    );
  });

  it("to which something is added keeps every byte but for blanks before a bracket, and every comment", () => {
    fc.assert(
      fc.property(value, value, seed, (data, to, from) => {
        const dice = diceOf(from);
        const before = written(data, dice);
        const containers = before.spots.filter(({ start }) => "[{".includes(before.text[start]!));
        fc.pre(containers.length > 0);
        const { path } = pick(containers, dice);
        const inside = path.reduce((inner: any, step) => inner[step], data);
        const step = Array.isArray(inside) ? inside.length : "a new key";
        const deeper = dice(2) === 0 ? ["deeper", "still"] : [];
        const edits = editsToSet(before.text, [...path, step, ...deeper], to);
        for (const edit of edits) expect(isBlank(before.text.slice(edit.start, edit.end))).toBe(true);
        const after = applied(before.text, edits);
        expectData(after, withSet(data, [...path, step], deeper.length > 0 ? { deeper: { still: to } } : to));
        expect(marksIn(after)).toEqual(marksOutside(before, 0, 0));
        const ends = new Set(before.text.match(/\r?\n/g));
        expect(new Set(after.match(/\r?\n/g)).isSubsetOf(ends.size === 0 ? new Set(["\n"]) : ends)).toBe(true);
      }),
      RUNS,
    );
  });

  it("from which something is removed keeps every other part, and every comment outside of it", () => {
    fc.assert(
      fc.property(value, seed, (data, from) => {
        const dice = diceOf(from);
        const before = written(data, dice);
        const parts = before.spots.filter(({ path }) => path.length > 0);
        fc.pre(parts.length > 0);
        const { path, memberStart, end } = pick(parts, dice);
        const edits = editsToRemove(before.text, path);
        const after = applied(before.text, edits);
        expectData(after, withoutPart(data, path));
        expect(marksIn(after)).toEqual(marksOutside(before, memberStart, end));
        const lost = edits.map(
          (edit) =>
            before.text.slice(edit.start, Math.max(edit.start, Math.min(edit.end, memberStart))) +
            before.text.slice(Math.max(edit.start, end), Math.max(edit.end, end)),
        );
        expect(lost.join("")).toMatch(/^[ \t\r\n]*,?[ \t\r\n]*$/);
      }),
      RUNS,
    );
  });

  it("that is not one is refused with the place", () => {
    const faults: [text: string, message: string][] = [
      ["", "line 1, column 1: a value is missing"],
      ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: "," or a closing bracket is missing'],
      ['{\r\n  "a": 1,\r\n  "a": 2\r\n}', 'line 3, column 3: the key "a" is there twice'],
      ["{ a: 1 }", "line 1, column 3: this is not JSON"],
      ['{ "a" 1 }', 'line 1, column 7: ":" is missing'],
      ["[1,,2]", "line 1, column 4: a value is missing"],
      ["[,]", "line 1, column 2: a value is missing"],
      ["[01]", 'line 1, column 3: "," or a closing bracket is missing'],
      ["{} {}", "line 1, column 4: there is more after the end of the value"],
      ["{} /* *", "line 1, column 4: a comment does not end"],
      ['["a\nb"]', "line 1, column 2: a string does not end"],
      ['["\\x"]', "line 1, column 2: a string has an invalid escape"],
      ["[".repeat(100_000), "line 1, column 257: it nests deeper than 256 levels"],
    ];
    for (const [text, message] of faults) expect(thrownBy(() => parseJsonc(text))).toMatchObject({ name: "JsonSyntaxError", message });
  });

  it("has the key __proto__ like any other", () => {
    const text = '{ "__proto__": { "polluted": true } }';
    expect(Object.entries(parseJsonc(text) as object)).toEqual([["__proto__", { polluted: true }]]);
    expect(setIn("{}", ["__proto__", "a"], 1)).toBe('{\n  "__proto__": {\n    "a": 1\n  }\n}');
  });
});

describe("the layout of an edit", () => {
  const FILE = `// The gateway's plugins.
{
    "plugins": {
        // Ours.
        "entries": {
            "guard": { "enabled": true }, // never off
            "weather": {
                "enabled": true, /* since May */
            },
            // "old": {}
        },
    },
    "stateDir": "state"
}
`;

  it("follows the file's own", () => {
    const after = setIn(setIn(FILE, ["plugins", "entries", "new"], { enabled: true, grants: { kv: true } }), ["limits", "heapMb"], 64);
    expect(after).toBe(`// The gateway's plugins.
{
    "plugins": {
        // Ours.
        "entries": {
            "guard": { "enabled": true }, // never off
            "weather": {
                "enabled": true, /* since May */
            },
            // "old": {}
            "new": {
                "enabled": true,
                "grants": {
                    "kv": true
                }
            },
        },
    },
    "stateDir": "state",
    "limits": {
        "heapMb": 64
    }
}
`);
    expect(removeIn(removeIn(after, ["plugins", "entries", "new"]), ["limits"])).toBe(FILE);
  });

  it("in one line stays in one line", () => {
    expect(setIn(FILE, ["plugins", "entries", "guard", "hooks"], { cpuMs: 5 })).toContain(
      '"guard": { "enabled": true, "hooks": {"cpuMs":5} }, // never off\n',
    );
    expect(setIn('{ "a": [1, 2] }', ["a", 2], 3)).toBe('{ "a": [1, 2, 3] }');
    expect(removeIn('{ "a": 1, "b": 2 }', ["a"])).toBe('{ "b": 2 }');
    expect(removeIn('{ "a": 1, "b": 2 }', ["b"])).toBe('{ "a": 1 }');
  });

  it("uses the file's tabs, line ends and mark", () => {
    expect(setIn('\ufeff{\r\n\t"a": {}\r\n}\r\n', ["a", "b"], [1])).toBe(
      '\ufeff{\r\n\t"a": {\r\n\t\t"b": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n',
    );
  });

  it("leaves a text alone that says it already, and comments inside what is the same", () => {
    expect(setIn(FILE, ["plugins", "entries", "weather"], { enabled: true })).toBe(FILE);
    expect(removeIn(FILE, ["plugins", "entries", "nobody"])).toBe(FILE);
  });
});

const enable = (id: string) => ({ path: ["plugins", "entries", id, "enabled"], value: true });
const text = (path: string) => readFileSync(path, "utf8");

describe("editing a file", () => {
  it("keeps its mode, and leaves nothing beside it", () => {
    const root = folder({ "creel.json": '{\n  // mine\n  "stateDir": "s"\n}\n' });
    const path = join(root, "creel.json");
    chmodSync(path, 0o640);
    expect(editConfig(path, () => [enable("a")])).toBe(true);
    expect(editConfig(path, () => [enable("a")])).toBe(false);
    expect(text(path)).toContain("// mine\n");
    expect(parseJsonc(text(path))).toEqual({ stateDir: "s", plugins: { entries: { a: { enabled: true } } } });
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(root)).toEqual(["creel.json"]);
    expect(editConfig(path, () => [{ path: ["plugins"], remove: true }])).toBe(true);
    expect(text(path)).toBe('{\n  // mine\n  "stateDir": "s"\n}\n');
  });

  it("makes one that is not there, and follows a link to one that is elsewhere", () => {
    const root = folder({ "real.json": "{}" });
    const path = join(root, "creel.json");
    editConfig(path, () => [enable("a")]);
    expect(parseJsonc(text(path))).toEqual({ plugins: { entries: { a: { enabled: true } } } });
    symlinkSync("real.json", join(root, "link.json"));
    editConfig(join(root, "link.json"), () => [enable("b")]);
    expect(lstatSync(join(root, "link.json")).isSymbolicLink()).toBe(true);
    expect(parseJsonc(text(join(root, "real.json")))).toEqual({ plugins: { entries: { b: { enabled: true } } } });
  });

  it("that somebody else writes meanwhile is done to what they wrote", () => {
    const path = join(folder({ "creel.json": "{}" }), "creel.json");
    const seen: unknown[] = [];
    const edit = (config: unknown) => {
      seen.push(config);
      if (seen.length === 1) writeFileSync(path, '{ "stateDir": "theirs" }');
      return [enable("a")];
    };
    expect(editConfig(path, edit)).toBe(true);
    expect(seen).toEqual([{}, { stateDir: "theirs" }]);
    expect(parseJsonc(text(path))).toEqual({ stateDir: "theirs", plugins: { entries: { a: { enabled: true } } } });
  });

  it("that somebody else makes meanwhile does not overwrite theirs", () => {
    const root = folder({ "theirs.json": '{ "stateDir": "theirs" }' });
    const path = join(root, "creel.json");
    let asked = 0;
    editConfig(path, () => {
      if (asked++ === 0) linkSync(join(root, "theirs.json"), path);
      return [enable("a")];
    });
    expect(parseJsonc(text(path))).toMatchObject({ stateDir: "theirs", plugins: { entries: { a: { enabled: true } } } });
  });

  it("gives up when another process keeps writing", () => {
    const path = join(folder({ "creel.json": "{}" }), "creel.json");
    let count = 0;
    const edit = () => {
      writeFileSync(path, `{ "stateDir": "${++count}" }`);
      return [enable("a")];
    };
    expect(thrownBy(() => editConfig(path, edit))).toMatchObject({
      code: "ERR_CONFIG_EDIT",
      message: `Creel cannot change ${path} at "(whole file)": another process keeps changing it`,
    });
    expect(parseJsonc(text(path))).toEqual({ stateDir: String(count) });
  });

  it("refuses what could not be read back, and what leads nowhere, and names the place", () => {
    const root = folder({ "creel.json": '{ "plugins": { "entries": { "a": { "enabled": true } } }, "stateDir": "s" }' });
    const path = join(root, "creel.json");
    const before = text(path);
    const failing = (edit: Parameters<typeof editConfig>[1]) => thrownBy(() => editConfig(path, edit));
    expect(failing(() => [{ path: ["plugins", "entries", "a", "enabled"], value: "yes" }])).toMatchObject({
      code: "ERR_CONFIG_INVALID",
      params: { field: "plugins.entries.a.enabled" },
    });
    expect(failing(() => [{ path: ["stateDir", "x"], value: 1 }])).toMatchObject({
      code: "ERR_CONFIG_EDIT",
      message: `Creel cannot change ${path} at "stateDir.x": stateDir is not an object`,
    });
    expect(failing(() => [{ path: ["plugins", "load", "paths", 1], value: "x" }])).toMatchObject({ code: "ERR_CONFIG_EDIT" });
    expect(text(path)).toBe(before);
    writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(failing(() => [])).toMatchObject({ code: "ERR_CONFIG_READ" });
    writeFileSync(path, "{ nothing }");
    expect(failing(() => [])).toMatchObject({
      code: "ERR_CONFIG_READ",
      params: { detail: "line 1, column 3: this is not JSON" },
    });
    expect(thrownBy(() => editConfig(join(root, "no/such/creel.json"), () => [enable("a")]))).toMatchObject({ code: "ERR_CONFIG_EDIT" });
  });
});

describe("a gateway's configuration", () => {
  it("may have comments, trailing commas and a byte order mark", async () => {
    const root = folder({
      "creel.json": '\ufeff{ // mine\n  "stateDir": "s", /* and */\n}\n',
      "twice.json": '{ "stateDir": "a",\n "stateDir": "b" }',
    });
    expect(await readConfig(join(root, "creel.json"))).toEqual({ stateDir: "s" });
    await expect(readConfig(join(root, "twice.json"))).rejects.toMatchObject({
      code: "ERR_CONFIG_READ",
      params: { detail: 'line 2, column 2: the key "stateDir" is there twice' },
    });
  });
});

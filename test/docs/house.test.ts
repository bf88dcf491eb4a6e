/** The rules of the house, as AGENTS.md and docs/architecture.md state them. They keep it readable for somebody who has never seen it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { drawingsOf } from "./walk/drawings.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
/** One row per error, limit or field: a table is read by searching, not from top to bottom. The last is made by a script. */
const TABLES = new Set(["src/protocol/errors.ts", "src/protocol/limits.ts", "src/sdk/author/field-docs.ts"]);
const MAX_FILES = 18;
const MAX_LINES = 350;
const MAX_WALK = { files: 32, returns: 12 };

/** Words of an earlier private language. `docs/adr` and the notes on performance tell history, and may use them. */
const RETIRED =
  /\b(vigil|linger(s|ed|ing)?|letterbox|letter-files|theyLook|isWatched|isForgotten|stayAwake|bells|nursery|cooks?|errands?|waiting room|furnish(es|ed)?|lastWords|hearing|heard|berths?|condemn(s|ed)?|walled|fences|sleepers|wakesFor|standIns?|isCalm|redo|OneByOne|SideBySide|HotRun|(un)?dress(es|ed)?|job-?holder|rehears(al|e|ed|es)|courier|strangers?|held turn|tally|glances?|allowance|nudges?|WatchGauges|whoever|somebody)\b/gi;
/** Ordinary English. */
const SPARED = [/^docs\/guides\/durable-events.md: heard$/];

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .toSorted();
}

describe("a folder of src", () => {
  it(`holds at most ${MAX_FILES} files`, () => {
    const counts = Map.groupBy(filesBelow("src"), (file) => file.slice(0, file.lastIndexOf("/")));
    const crowded = [...counts].filter(([, files]) => files.length > MAX_FILES).map(([folder, files]) => `${folder}: ${files.length}`);
    expect(crowded).toEqual([]);
  });

  it("is on the map in AGENTS.md, if it is a room", () => {
    const map = readFileSync(join(ROOT, "AGENTS.md"), "utf8");
    const rooms = readdirSync(join(ROOT, "src")).filter((name) => statSync(join(ROOT, "src", name)).isDirectory());
    expect(rooms.filter((room) => !["text", "os"].includes(room) && !map.includes(`src/${room}`))).toEqual([]);
  });
});

interface Rule {
  readonly files: readonly string[];
  readonly rules: {
    readonly "no-restricted-imports"?:
      | string
      | [string, { readonly patterns?: readonly { readonly group: string[]; readonly message: string }[] }];
  };
}

describe("the linter's rule for a folder of src", () => {
  const rooms = readdirSync(join(ROOT, "src")).filter((name) => statSync(join(ROOT, "src", name)).isDirectory());
  const { overrides } = JSON.parse(readFileSync(join(ROOT, ".oxlintrc.json"), "utf8")) as { readonly overrides: readonly Rule[] };

  it.each(rooms)("of %s allows the folders that it names, and no other", (room) => {
    const rule = overrides.find(({ files }) => files[0] === `src/${room}/**`)?.rules["no-restricted-imports"];
    const patterns = typeof rule === "object" ? (rule[1].patterns ?? []) : [];
    const { group, message } = patterns.find(({ message: text }) => text.startsWith(`${room} → `)) ?? { group: [], message: "" };
    const named = message.replace(/^\w+ → |\.$/g, "").split(", ");
    const others = rooms.filter((other) => other !== room && !named.includes(other));
    expect(group.toSorted()).toEqual(others.map((other) => `../**/${other}/**`).toSorted());
  });
});

describe("a file of src", () => {
  it(`has at most ${MAX_LINES} lines, tables aside`, () => {
    const long = filesBelow("src")
      .filter((file) => /\.tsx?$/.test(file) && !TABLES.has(file))
      .map((file) => ({ file, lines: readFileSync(join(ROOT, file), "utf8").split("\n").length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES);
    expect(long).toEqual([]);
  });

  it("opens with a comment that says where it runs or what it is for", () => {
    const silent = filesBelow("src").filter(
      (file) => /\.tsx?$/.test(file) && !/^(#!.*\n)?\s*\/[*/]/.test(readFileSync(join(ROOT, file), "utf8")),
    );
    expect(silent).toEqual([]);
  });
});

it("no retired word is left in src, the documents or the templates", () => {
  const documents = filesBelow("docs").filter(
    (file) => file.endsWith(".md") && !file.startsWith("docs/adr/") && file !== "docs/performance-notes.md",
  );
  const found = [...filesBelow("src"), ...documents, "README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md"].flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(RETIRED)]
      .map(([word]) => `${file}: ${word}`)
      .filter((line) => !SPARED.some((pattern) => pattern.test(line))),
  );
  expect(found).toEqual([]);
});

describe("the walk of before_tool_call in docs/architecture.md", () => {
  const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const { steps, helpers } = drawingsOf(page);

  it("names files that exist", () => {
    const all = new Set(filesBelow("src"));
    expect([...steps, ...helpers].filter((file) => !all.has(file))).toEqual([]);
  });

  it(`visits at most ${MAX_WALK.files} files and comes back to a folder at most ${MAX_WALK.returns} times, and the page says the numbers`, () => {
    const files = new Set(steps).size;
    const folders = steps.map((file) => file.slice(0, file.lastIndexOf("/"))).filter((folder, at, list) => folder !== list[at - 1]);
    const returns = folders.filter((folder, at) => folders.indexOf(folder) < at).length;
    expect(files).toBeLessThanOrEqual(MAX_WALK.files);
    expect(returns).toBeLessThanOrEqual(MAX_WALK.returns);
    expect(page).toContain(`That is ${files} files, with ${returns} returns`);
    expect(page).toContain(`also executes ${helpers.length} helper files`);
  });
});

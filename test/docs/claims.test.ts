/** Whoever says that a test holds something names one that exists. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { PERMISSION_TABLE } from "../../src/protocol/config/permission-table.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const FILE = /\btest\/[\w/-]+\.test\.ts/g;

/** Names in the source of a test are written in one of three quotes; those that are made of something else are found by their beginning. */
const has = (file: string, name: string): boolean => {
  const text = read(file).replaceAll(/\\(["'`])/g, "$1");
  return [`"${name}"`, `'${name}'`, `\`${name}\``, `\`${name},`].some((quoted) => text.includes(quoted));
};

/** `test/x.test.ts` “a name”, “another” */
function named(text: string): { file: string; name: string }[] {
  return Array.from(text.matchAll(/`(test\/[\w/-]+\.test\.ts)`((?:,? “[^”]+”)+)/g)).flatMap(([, file, names]) =>
    Array.from(names!.matchAll(/“([^”]+)”/g), ([, name]) => ({ file: file!, name: name! })),
  );
}

/** Rows of tables whose last column is headed "test". */
function claims(path: string): string[][] {
  const rows: string[][] = [];
  let isTable = false;
  for (const line of read(path).split("\n")) {
    const cells = line.startsWith("|")
      ? line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim())
      : [];
    if (cells.at(-1) === "test") isTable = true;
    else if (cells.length === 0) isTable = false;
    else if (isTable && !/^-+$/.test(cells[0]!)) rows.push(cells);
  }
  return rows;
}

describe("tests that are named", () => {
  it.each(["docs/**/*.md", "README.md", "src/**/*.ts", "scripts/*.ts"])("in %s are there", (glob) => {
    const paths = globSync(glob, { cwd: root });
    expect(paths.length).toBeGreaterThan(0);
    const missing = paths.flatMap((path) =>
      (read(path).match(FILE) ?? []).filter((file) => !existsSync(join(root, file))).map((file) => `${path}: ${file}`),
    );
    expect(missing).toEqual([]);
  });

  it("with a name are there by that name", () => {
    const all = globSync("docs/**/*.md", { cwd: root }).flatMap((path) => named(read(path)).map((one) => ({ path, ...one })));
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(({ file, name }) => existsSync(join(root, file)) && !has(file, name))).toEqual([]);
  });

  it("in the table of archives are there by that name, or by its beginning", () => {
    const world = globSync("test/install/**/*.ts", { cwd: root }).map(read).join("\n");
    const cells = Array.from(read("docs/reference/archives.md").matchAll(/^\|.*\| (.+) \|$/gm), ([, cell]) => cell!);
    const names = cells.flatMap((cell) => Array.from(cell.matchAll(/"([^"…]+)…?"/g), ([, name]) => name!));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !world.includes(`"${name}`) && !world.includes(`\`${name}`))).toEqual([]);
  });
});

describe("every claim names its test", () => {
  it.each([
    ["docs/security-model.md", 40],
    ["docs/install-threats.md", 20],
    ["docs/security-findings.md", 30],
  ] as const)("in %s", (path, least) => {
    const rows = claims(path);
    expect(rows.length).toBeGreaterThanOrEqual(least);
    expect(rows.filter((cells) => named(cells.at(-1)!).length === 0).map(([claim]) => claim)).toEqual([]);
  });

  it("of every permission", () => {
    for (const { tests } of Object.values(PERMISSION_TABLE)) {
      expect(tests.length).toBeGreaterThan(0);
      for (const [file, name] of tests) expect([file, name, has(file, name)]).toEqual([file, name, true]);
    }
  });

  it("a line that the sandbox depends on, in its comment", () => {
    const comments = globSync("src/**/*.ts", { cwd: root }).flatMap((path) =>
      // To the end of the comment: its last line, or what closes it.
      Array.from(read(path).matchAll(/SECURITY:.*(?:\n\s*(?:\/\/|\*(?!\/)).*)*/g), ([text]) => ({ path, text })),
    );
    expect(comments.length).toBeGreaterThan(50);
    expect(comments.filter(({ text }) => !/\btest\/[\w/.-]+\.ts/.test(text))).toEqual([]);
  });
});

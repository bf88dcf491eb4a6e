/** The page of what was tried live is of the tests that there are, and all of them passed. `npm run test:openclaw` writes it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const read = (file: string): string => readFileSync(join(import.meta.dirname, "../..", file), "utf8");

it("each of the ten pins of test/openclaw/live.test.ts is the title of a test", () => {
  const files = ["surface.test.ts", ...["answers", "hostile", "lifecycle", "moves", "returns"].map((name) => `live/${name}.ts`)];
  const titles = files.flatMap((file) =>
    [...read(`test/openclaw/${file}`).matchAll(/^ +it\("pins? ([\d, and]+): /gm)].map(([, pins]) => pins!),
  );
  const pins = new Set(titles.flatMap((title) => title.match(/\d+/g)!.map(Number)));
  expect([...pins].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

it("docs/reference/openclaw-live.md has a row for each test of the running gateway, and each was seen", () => {
  const [, parts] = /for \(const part of \[(.*)\]\)/.exec(read("test/openclaw/live.test.ts"))!;
  const titles = parts!
    .split(", ")
    .flatMap((name) =>
      [...read(`test/openclaw/live/${name}.ts`).matchAll(/^ +it\(("(?:[^"\\]|\\.)*")/gm)].map(([, title]) => JSON.parse(title!) as string),
    );
  const rows = [...read("docs/reference/openclaw-live.md").matchAll(/^\| (.+) \| (.) \|$/gm)].filter(([, what]) => what !== "what");
  expect(titles.length).toBeGreaterThan(15);
  expect(rows.map(([, what, seen]) => [what, seen])).toEqual(titles.map((title) => [title, "✓"]));
});

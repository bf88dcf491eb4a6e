/** The first pages are short, and the index of the documentation leaves no page out and shows what Creel looks like. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const DOCS = join(import.meta.dirname, "../../docs");
const index = readFileSync(join(DOCS, "README.md"), "utf8");

it.each(globSync("first/*.md", { cwd: DOCS }))("docs/%s has about 300 words", (page) => {
  const words = readFileSync(join(DOCS, page), "utf8").split(/\s+/).filter(Boolean).length;
  expect(words).toBeGreaterThan(200);
  expect(words).toBeLessThanOrEqual(350);
});

it("docs/README.md links every guide, every reference page and every first page", () => {
  const pages = globSync(["first/*.md", "guides/*.md", "reference/*.md"], { cwd: DOCS });
  const missing = pages.filter((page) => !index.includes(`](${page})`));
  expect(missing).toEqual([]);
  expect(Array.from(index.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g), ([, picture]) => existsSync(join(DOCS, picture!)))).toEqual([true]);
});

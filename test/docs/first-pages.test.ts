/** The first pages are short, and the index of the documentation leaves no page out. */
import { globSync, readFileSync } from "node:fs";
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
  // It is a report of a live run, which the OpenClaw guide links.
  const missing = pages.filter((page) => !index.includes(`](${page})`) && !/openclaw-live|compatibility/.test(page));
  expect(missing).toEqual([]);
});

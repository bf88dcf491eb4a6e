/**
 * `npm run compat`, as the compatibility page was made: the public packages and plugins of its list that come from a registry, at their pinned versions.
 * None may have become worse than results.json says. Part of `npm run test:package`, since it needs a registry.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folder } from "../support/files.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAIN = join(ROOT, "scripts/compat/main.ts");
const { packages, plugins } = JSON.parse(readFileSync(join(ROOT, "scripts/compat/list.json"), "utf8")) as Record<
  string,
  { name: string }[]
>;
const { packages: before } = JSON.parse(readFileSync(join(ROOT, "scripts/compat/results.json"), "utf8")) as Record<
  string,
  Record<string, unknown>
>;

const compat = (...args: string[]): { readonly status: number | null; readonly lines: string[] } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-C", "source", MAIN, "--workspace", folder({}), ...args], {
    encoding: "utf8",
    timeout: 1_200_000,
  });
  return { status, lines: `${stdout}${stderr}`.split("\n").filter(Boolean) };
};

it("no public package or plugin of the list has become worse", { timeout: 1_250_000 }, () => {
  expect(Object.keys(before!).toSorted()).toEqual(packages!.map(({ name }) => name).toSorted());
  const { status, lines } = compat();
  expect(lines.filter((line) => line.includes("(was "))).toEqual([]);
  expect([status, lines.filter((line) => /^(?:full|reduced|refused) /.test(line)).length]).toEqual([0, packages!.length + plugins!.length]);
});

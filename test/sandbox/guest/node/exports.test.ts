/** docs/reference/node-modules.md lists what exists in a cell and what does not. This keeps it true. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { compareExports } from "./exports.ts";
import type { Exports } from "./exports.ts";
import { KNOWN } from "./tables.ts";

const page = readFileSync(new URL("../../../../docs/reference/node-modules.md", import.meta.url), "utf8");
const listed = (names: readonly string[]): string => (names.length === 0 ? "–" : names.map((name) => `\`${name}\``).join(", "));

describe("docs/reference/node-modules.md", () => {
  let all: Exports[] = [];
  beforeAll(async () => {
    all = await compareExports();
  });

  it("has a row for every module, with the members that are missing or refused", () => {
    const rows = all.map(({ module, missing, refused }) => `| \`${module}\` | ${listed(missing)} | ${listed(refused)} |`);
    expect(page.split("\n").filter((line) => line.startsWith("| `"))).toEqual(rows);
  });

  it("nothing is there that Node does not have, but for what process inherits in Node", () => {
    const inherited = ["addListener", "on", "once", "prependListener", "prependOnceListener"];
    expect(all.flatMap(({ module, added }) => added.map((name) => `${module}.${name}`))).toEqual(
      inherited.map((name) => `process.${name}`),
    );
  });

  it("names every known difference of the tests", () => {
    for (const reason of Object.values(KNOWN).flatMap((known) => Object.values(known))) expect(page).toContain(reason);
  });
});

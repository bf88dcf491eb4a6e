/** Short commands are short: CPU time against an empty Node, in one run, with the packed package. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commandCosts } from "../../scripts/command-costs.ts";
import { packedCreel } from "../support/packed.ts";
import { Person } from "./person.ts";

it("list, help, inspect and doctor cost at most 3, 2, 5 and 15 times an empty Node", { timeout: 120_000 }, async ({ annotate }) => {
  const me = await Person.begin({
    "gate/creel.plugin.json": JSON.stringify({ id: "gate", version: "1.0.0" }),
    "gate/package.json": JSON.stringify({ name: "gate", version: "1.0.0", type: "module" }),
    "gate/index.js": `export default (api) => { api.on("before_tool_call", () => undefined); };\n`,
  });
  expect((await me.install("./gate")).code).toBe(0);
  const { root } = await packedCreel();
  expect(existsSync(join(root, "dist/.compile-cache"))).toBe(true);
  const costs = commandCosts(join(root, "dist/cli/main.js"), "gate", me.home, { rounds: 7, env: me.env });
  void annotate(costs.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(", "));
  expect(costs.filter(({ ratio, most }) => ratio > most)).toEqual([]);
});

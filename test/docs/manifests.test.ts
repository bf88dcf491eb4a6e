/** The manifests of the example plugins fit the JSON Schema that editors get, and name it. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const schema = JSON.parse(readFileSync(join(root, "docs/reference/creel.plugin.schema.json"), "utf8")) as object;
const fits = new Ajv2020({ strict: false }).compile(schema);
const manifests = globSync("{plugins-examples,examples}/*/creel.plugin.json", { cwd: root });

it("there are some, and one whose hooks are no list does not fit", () => {
  expect(manifests.length).toBeGreaterThan(5);
  expect(fits({ id: "x", main: "index.ts" })).toBe(true);
  expect(fits({ id: "x", main: "index.ts", hooks: "before_tool_call" })).toBe(false);
});

it.each(manifests)("%s fits, and names the schema where it is", (path) => {
  const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as { $schema: string };
  expect([fits(manifest), fits.errors]).toEqual([true, null]);
  expect(existsSync(join(root, dirname(path), manifest.$schema))).toBe(true);
});

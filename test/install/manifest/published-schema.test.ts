/** docs/reference/creel.plugin.schema.json, which editors read, takes the manifests that Creel takes: those of the examples and of `creel init`. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { CATALOG } from "../../../src/protocol/catalog.ts";
import type { AnyHook } from "../../../src/protocol/catalog.ts";
import { creelHere } from "../../support/cli-in-process.ts";
import { folder } from "../../support/files.ts";

const ROOT = join(import.meta.dirname, "../../..");
const json = (path: string): object => JSON.parse(readFileSync(join(ROOT, path), "utf8")) as object;
const fits = new Ajv2020({ allowUnionTypes: true, logger: false }).compile(json("docs/reference/creel.plugin.schema.json"));
const faults = (manifest: unknown): unknown[] => (fits(manifest) ? [] : fits.errors!);

it.each(globSync("{plugins-examples,examples/*/plugins}/*/creel.plugin.json", { cwd: ROOT }))("%s fits", (path) => {
  expect(faults(json(path))).toEqual([]);
});

it("what creel init writes fits", async () => {
  const home = join(folder({}), "mine");
  expect((await creelHere("init", home)).code).toBe(0);
  expect(faults(JSON.parse(readFileSync(join(home, "creel.plugin.json"), "utf8")))).toEqual([]);
});

it.each([
  ["no id of a string", { id: 7 }],
  ["hooks that are no list", { id: "a", hooks: "before_tool_call" }],
  ["a permission that does not exist", { id: "a", permissions: { kvv: "counts" } }],
  ["a permission without a reason", { id: "a", permissions: { kv: "" } }],
])("%s does not fit", (_, manifest) => {
  expect(faults(manifest)).not.toEqual([]);
});

it("tells an editor what every key is, and of every hook of the catalog its sentence; a hook of a gateway's own fits, too", () => {
  const { properties } = json("docs/reference/creel.plugin.schema.json") as {
    properties: Record<string, { description?: string; items?: { anyOf: { const?: string; description?: string }[] } }>;
  };
  expect(Object.keys(properties).filter((key) => properties[key]!.description === undefined)).toEqual([]);
  const told = new Map(properties.hooks!.items!.anyOf.map((one) => [one.const, one.description]));
  const untold = Object.values<AnyHook>(CATALOG).filter(({ name, summary }) => !told.get(name)?.startsWith(summary));
  expect([untold, faults({ id: "a", hooks: ["before_tool_call", "of_a_gateway"] })]).toEqual([[], []]);
});

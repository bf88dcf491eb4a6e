/** What a plugin says about its configuration is used as far as it is a schema, tells operators what does not fit, and cannot cost more than a moment. */
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configFaults, configSchemaOf } from "../../../src/install/manifest/config-schema.ts";
import { misfits } from "../../../src/install/manifest/schema-check.ts";
import type { Schema } from "../../../src/install/manifest/schema-check.ts";
import { operator, pluginFolder } from "../pipeline.ts";

const faultOf = (configSchema: unknown) => (configSchemaOf({ configSchema }) as { fault?: string }).fault;
const said = async (configSchema: unknown, config: Record<string, unknown>) => {
  const faults = await configFaults({ id: "p", schema: configSchemaOf({ configSchema }), config });
  return faults.map(({ message }) => message.replace("plugins.entries.p.config", ""));
};

const twice = (level: number) => ({ allOf: [{ $ref: `#/$defs/${level}` }, { $ref: `#/$defs/${level}` }] });
const given = (config: Record<string, unknown>) => ({
  config: { sandbox: { walls: "none" as const }, plugins: { entries: { weather: { config } } } },
});

const cpuMs = (): number => process.threadCpuUsage().user / 1_000;
const scalar = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom("", "a", "ab", "abc", "b1"), fc.boolean(), fc.constant(null));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    // As JSON.parse makes them: ajv cannot compare objects that inherit nothing.
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const count = fc.integer({ min: 0, max: 3 });
const schemas = fc.letrec<{ schema: Schema }>((tie) => {
  const one = tie("schema");
  const some = fc.array(one, { minLength: 1, maxLength: 2 });
  const map = fc.dictionary(fc.constantFrom("a", "b"), one, { maxKeys: 2 });
  const keywords = {
    ...Object.fromEntries("items additionalProperties propertyNames not if then else".split(" ").map((name) => [name, one])),
    type: fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object", ["string", "object"]),
    enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }),
    const: scalar,
    properties: map,
    patternProperties: fc.dictionary(fc.constantFrom("^a", "[bc]$"), one, { maxKeys: 2 }),
    required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
    dependentRequired: fc.constant({ a: ["b"] }),
    minProperties: count,
    maxProperties: count,
    prefixItems: some,
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom("^a", "b$", "\\d"),
    minimum: fc.integer({ min: -2, max: 2 }),
    exclusiveMaximum: fc.integer({ min: -2, max: 2 }),
    multipleOf: fc.constantFrom(1, 2, 0.5),
    allOf: some,
    anyOf: some,
    oneOf: some,
  };
  const pairs = fc.oneof(...Object.entries(keywords).map(([name, value]) => fc.tuple(fc.constant(name), value as fc.Arbitrary<unknown>)));
  const object = fc.array(pairs, { maxLength: 4 }).map((all) => Object.fromEntries(all) as Schema);
  return { schema: fc.oneof({ maxDepth: 3 }, fc.constantFrom<Schema>(true, false, { type: "string" }), object, object) };
}).schema;

describe("a configSchema", () => {
  it("means what it means to ajv", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    // Of a few schemas ajv makes code that does not run: `{ anyOf: [{}, { not: true, if: true, then: { items: true } }] }`.
    const says = (schema: Schema, value: unknown): boolean | undefined => {
      try {
        return ajv.validate(schema, value);
      } catch (error) {
        if (error instanceof ReferenceError || error instanceof TypeError) return undefined;
        throw error;
      }
    };
    const run = fc.property(schemas, json, (schema, value) => {
      expect(faultOf(schema)).toBeUndefined();
      const fits = says(schema, value);
      fc.pre(fits !== undefined);
      expect({ schema, value, fits: misfits(schema, value).length === 0 }).toEqual({ schema, value, fits });
      ajv.removeSchema();
    });
    fc.assert(run, { numRuns: 400 });
  });

  // Not left to ajv: in an object's or a list's loop it remembers what it found before, and beside `prefixItems` an empty list will do.
  it.each<[Schema, unknown, boolean]>([
    [{ contains: {} }, [], false],
    [{ contains: {} }, [1], true],
    [{ contains: { type: "string" } }, [1, "a"], true],
    [{ contains: { type: "string" } }, [1, 2], false],
    [{ contains: { type: "string" } }, "no list", true],
    [{ contains: false }, [1], false],
    [{ prefixItems: [{ type: "string" }], contains: {} }, [], false],
    [{ prefixItems: [{ type: "string" }], contains: { type: "number" } }, ["a", 1], true],
    [{ additionalProperties: { contains: { type: "string" } } }, { c: [""], a: [] }, false],
    [{ items: { contains: { type: "string" } } }, [[""], []], false],
    [{ items: { contains: { type: "string" } } }, [[""], ["b"]], true],
  ])("contains: %j and %j", (schema, value, fits) => {
    expect(faultOf(schema)).toBeUndefined();
    expect(misfits(schema, value).length === 0).toBe(fits);
  });

  it("names what does not fit, where, and what would", async () => {
    const schema = {
      type: "object",
      additionalProperties: false,
      required: ["key"],
      properties: {
        key: { type: "string", pattern: "^sk-", minLength: 4 },
        units: { enum: ["c", "f"] },
        towns: { type: "array", items: { $ref: "#/$defs/town" }, maxItems: 2 },
        mode: { anyOf: [{ type: "string" }, { type: "object", properties: { every: { type: "integer", minimum: 1 } } }] },
      },
      $defs: { town: { type: "object", required: ["name"] } },
    };
    expect(await said(schema, { units: "k", unit: "c", towns: [{ name: "Riga" }, {}], mode: { every: 0 } })).toEqual([
      ".key is missing",
      '.units must be one of "c", "f"',
      ".towns.1.name is missing",
      ".mode.every must be at least 1",
      ".unit is not a known key (key, units, towns, mode)",
    ]);
    // What is there may be a secret.
    expect(await said(schema, { key: "hunter2" })).toEqual([".key must match ^sk-"]);
    expect(await said(schema, { key: "sk-hunter2" })).toEqual([]);
    expect(await configFaults({ id: "p", schema: undefined, config: { any: 1 } })).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["text", "text", "it is not a schema"],
    ["a type that there is not", { type: "text" }, "type must be one of"],
    ["properties in a list", { properties: ["a"] }, "properties must be an object of schemas"],
    ["a length in quotes", { properties: { a: { minLength: "3" } } }, "properties.a.minLength must be a whole number"],
    ["a schema elsewhere", { $ref: "https://example.com/schema.json" }, "$ref must be a reference into the same schema"],
    ["another file", { properties: { a: { $ref: "other.json#/x" } } }, "properties.a.$ref must be a reference into the same schema"],
    ["half a pattern", { pattern: "(" }, "pattern must be a regular expression"],
    ["a long pattern", { pattern: "a".repeat(600) }, "pattern must be a regular expression of at most 512"],
    ["a keyword that is not supported", { $dynamicRef: "#x" }, "$dynamicRef is not supported"],
    ["no alternative", { anyOf: [] }, "anyOf must be a list of schemas"],
    ["a long text", { description: "x".repeat(70_000) }, "the limit is 65536"],
    ["many parts", { anyOf: Array.from({ length: 2_001 }, () => true) }, "it has more than 2000 parts"],
    ["many levels", Array.from({ length: 40 }).reduce((inner: object) => ({ not: inner }), {}), "nests deeper than 32 levels"],
  ])("that is none is not used, and it is said why: %s", (_, schema, why) => {
    expect(faultOf(schema)).toContain(why);
  });

  it("that would take for ever is given up on: patterns, alternatives of alternatives, references in a circle", async () => {
    const doubled = {
      ...twice(0),
      $defs: Object.fromEntries(Array.from({ length: 30 }, (_, level) => [level, level === 29 ? true : twice(level + 1)])),
    };
    const cases: [unknown, Record<string, unknown>][] = [
      [{ properties: { a: { pattern: "^(a+)+$" } } }, { a: `${"a".repeat(60)}b` }],
      [doubled, {}],
      [{ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }, {}],
      [{ $ref: "#" }, {}],
      [{ $ref: "#/$defs/none" }, {}],
    ];
    const startedMs = performance.now();
    for (const [schema, config] of cases) {
      expect(faultOf(schema)).toBeUndefined();
      expect(await said(schema, config)).toEqual([expect.stringMatching(/^ cannot be checked against the plugin's configSchema: .+/)]);
    }
    // Two of them for two seconds each.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  it("a catastrophic backtracking pattern cannot stall the gateway: its loop is never kept for 100 ms of CPU time, and the check ends", async () => {
    const words = "a".repeat(5_000);
    const hostile = [
      { properties: { a: { type: "string", pattern: "^(a+)+$" } } },
      { properties: { a: { pattern: "^(([a-z])+.)+[A-Z]([a-z])+$" } } },
      { patternProperties: { "^(a|aa)+$": { type: "number" } } },
      { propertyNames: { pattern: "^(a*)*$" } },
    ];
    for (const schema of hostile) faultOf(schema);
    let [lastMs, longestMs] = [cpuMs(), 0];
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, cpuMs() - lastMs);
      lastMs = cpuMs();
    }, 5);
    try {
      const startedMs = performance.now();
      const answers = await Promise.all(hostile.map((schema) => said(schema, { a: `${words}!`, [`${words}!`]: 1 })));
      expect(performance.now() - startedMs).toBeLessThan(10_000);
      expect(answers.flat()).toEqual(
        hostile.map(() => expect.stringContaining("cannot be checked against the plugin's configSchema: it takes longer than")),
      );
    } finally {
      clearInterval(timer);
    }
    expect(longestMs).toBeLessThan(100);
  });

  it("is compared with the operator's configuration when the plugin is installed", async () => {
    const configSchema = { type: "object", required: ["town"], properties: { units: { enum: ["c", "f"] } } };
    const source = `export default (api) => { if (api.pluginConfig.units === "k") throw new Error("no kelvin"); api.on("session_end", () => {}); };`;
    const root = pluginFolder({ id: "weather", configSchema }, source);
    const { install } = operator();
    expect((await install(root, false)).review.remarks).toEqual(["plugins.entries.weather.config.town is missing"]);
    await expect(install(root, false, given({ units: "k", town: "Riga" }))).rejects.toThrow(
      /no kelvin; plugins\.entries\.weather\.config\.units must be one of "c", "f"/,
    );
    const fine = await install(root, false, given({ units: "c", town: "Riga" }));
    expect([fine.review.remarks, fine.review.scan.findings]).toEqual([[], []]);
    const bad = await install(pluginFolder({ id: "odd", configSchema: { type: "text" } }, source), false);
    expect(bad.review.scan.findings).toMatchObject([{ rule: "config-schema", severity: "warn", file: "creel.plugin.json" }]);
  });
});

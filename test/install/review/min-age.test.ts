/** A minimum age goes by what the registry says, of the package and of all that it needs. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PolicyDecision } from "../../../src/install/review/update-decision.ts";
import { openRegistry } from "../../support/registry.ts";
import type { Registry } from "../../support/registry.ts";
import { operator } from "../pipeline.ts";

const DAY_MS = 24 * 3_600_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

const said = (days: number | undefined) => (days === undefined ? {} : { publishedAt: daysAgo(days) });

let registry: Registry;
beforeAll(async () => void (registry = await openRegistry()));
afterAll(() => registry[Symbol.asyncDispose]());

/** Publishes two versions of a plugin and of what it needs, each so many days ago, and gives what a policy of seven days says of the second. */
async function verdict(name: string, pluginDays: number | undefined, leafDays: number | undefined): Promise<PolicyDecision> {
  const leaf = `${name}-leaf`;
  const publish = (version: string, days: number | undefined) =>
    registry.publish(
      { name, version, dependencies: { [leaf]: "^1.0.0" }, openclaw: { extensions: ["index.js"] } },
      {
        "openclaw.plugin.json": JSON.stringify({ id: name }),
        "index.js": `const leaf = require("${leaf}"); module.exports = (api) => { api.on("llm_input", () => { leaf("${version}"); }); };`,
      },
      said(days),
    );
  await registry.publish({ name: leaf, version: "1.0.0" }, { "index.js": "module.exports = () => 0;" }, said(100));
  await publish("1.0.0", 100);
  const { install } = operator();
  const options = {
    env: { ...registry.env, npm_config_prefer_online: "true" },
    config: { sandbox: { walls: "none" as const }, update: { auto: "same-permissions" as const, minAgeDays: 7 } },
  };
  await install(name, undefined, options);
  await registry.publish({ name: leaf, version: "1.1.0" }, { "index.js": "module.exports = () => 1;" }, said(leafDays));
  await publish("1.1.0", pluginDays);
  let policy: PolicyDecision | undefined;
  await install(name, undefined, {
    ...options,
    decide: async (_, __, seen) => {
      ({ policy } = seen);
      return { isAccepted: false };
    },
  });
  return policy!;
}

describe("a policy of at least seven days", () => {
  it("takes a version that is older, with packages that are older", async () => {
    expect(await verdict("ripe", 8, 8)).toMatchObject({
      isAccepted: true,
      against: [],
      why: "update.auto: same-permissions, at least 7 days old",
    });
  });

  // Four installations, each with npm as a process.
  it("does not take a younger version, one of unknown age, or one that needs a younger package", { timeout: 120_000 }, async () => {
    expect((await verdict("young", 6, 8)).against).toEqual([expect.stringContaining("less than 7 days ago")]);
    expect((await verdict("ageless", undefined, 8)).against).toEqual(["the registry does not say when it was published"]);
    const needs = "it requires a package that is less than 7 days old or of unknown age";
    expect((await verdict("needs-young", 8, 6)).against).toEqual([needs]);
    expect((await verdict("needs-ageless", 8, undefined)).against).toEqual([needs]);
  });
});

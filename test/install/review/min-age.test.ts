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
/** Publishes a version of a plugin, or of the package that it needs, so many days ago. */
let publish: (version: string, days: number | undefined) => Promise<void>;
let publishLeaf: typeof publish;
/** What a policy of seven days says of the newest version. It is not installed. */
let verdict: () => Promise<PolicyDecision>;

// One installation, and for each verdict an update: each runs npm and tries the plugin.
beforeAll(async () => {
  registry = await openRegistry();
  publish = (version, days) =>
    registry.publish(
      { name: "ripe", version, dependencies: { leaf: "^1.0.0" }, openclaw: { extensions: ["index.js"] } },
      {
        "openclaw.plugin.json": JSON.stringify({ id: "ripe" }),
        "index.js": `const leaf = require("leaf"); module.exports = (api) => { api.on("llm_input", () => { leaf("${version}"); }); };`,
      },
      said(days),
    );
  publishLeaf = (version, days) =>
    registry.publish({ name: "leaf", version }, { "index.js": `module.exports = () => "${version}";` }, said(days));
  await publishLeaf("1.0.0", 100);
  await publish("1.0.0", 100);
  const { install } = operator();
  const options = {
    env: { ...registry.env, npm_config_prefer_online: "true" },
    config: { sandbox: { walls: "none" as const }, update: { auto: "same-permissions" as const, minAgeDays: 7 } },
  };
  await install("ripe", undefined, options);
  verdict = async () => {
    let policy: PolicyDecision | undefined;
    await install("ripe", undefined, {
      ...options,
      decide: async (_, __, seen) => {
        ({ policy } = seen);
        return { isAccepted: false };
      },
    });
    return policy!;
  };
});
afterAll(() => registry[Symbol.asyncDispose]());

describe("a policy of at least seven days", { timeout: 60_000 }, () => {
  it("takes a version that is older, with packages that are older", async () => {
    await publishLeaf("1.1.0", 8);
    await publish("1.1.0", 8);
    expect(await verdict()).toMatchObject({ isAccepted: true, against: [], why: "update.auto: same-permissions, at least 7 days old" });
  });

  it("does not take a younger version, or one of unknown age", async () => {
    await publish("1.2.0", 6);
    expect((await verdict()).against).toEqual([expect.stringContaining("less than 7 days ago")]);
    await publish("1.3.0", undefined);
    expect((await verdict()).against).toEqual(["the registry does not say when it was published"]);
  });

  it("does not take one that needs a younger package, or one of unknown age", async () => {
    const against = ["it requires a package that is less than 7 days old or of unknown age"];
    await publish("1.4.0", 8);
    await publishLeaf("1.2.0", 6);
    expect((await verdict()).against).toEqual(against);
    await publishLeaf("1.3.0", undefined);
    expect((await verdict()).against).toEqual(against);
  });
});

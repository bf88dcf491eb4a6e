/** Which updates the operator's policy takes without a person: those that it can see are no more than before, and no others. */
import { describe, expect, it } from "vitest";
import type { Review } from "../../../src/install/review/review.ts";
import { policyDecision } from "../../../src/install/review/update-decision.ts";
import type { UpdateFacts } from "../../../src/install/review/update-decision.ts";
import type { UpdatePolicy } from "../../../src/protocol/config/update-policy.ts";

const NOW = Date.parse("2026-06-15T00:00:00Z");
const KEY = `ed25519:${"A".repeat(43)}=`;

function review(more: Partial<Review> = {}, origins: string[] = ["https://a.example"]): Review {
  const scan = { files: 1, env: [], findings: [], origins: origins.map((origin) => ({ origin, file: "x", line: 1 })) };
  return { version: "1.1.0", dependencies: ["a@1.0.0"], changes: [], scan, ...more } as unknown as Review;
}
const plus = (what: Review["changes"][number]["what"], text: string) => review({ changes: [{ sign: "+", what, text }] });

const against = (facts: Partial<UpdateFacts>, policy: UpdatePolicy = { auto: "same-permissions" }) =>
  policyDecision(policy, {
    review: review(),
    accepted: review({ version: "1.0.0" }),
    publishedAt: new Date("2026-01-01"),
    areDependenciesOld: true,
    signed: { state: "none" },
    nowMs: NOW,
    ...facts,
  }).against;

describe("a policy of same-permissions", () => {
  it("takes an update whose code, and version, is all that changed", () => {
    const changes = [plus("code", "1 file"), plus("version", "1.1.0")].flatMap((one) => one.changes);
    expect(against({ review: review({ changes }) })).toEqual([]);
    expect(against({ review: review({ dependencies: ["a@1.0.1"] }) })).toEqual([]);
  });

  it.each([
    ["a new permission", { review: plus("permission", "kv") }, "new permission: kv"],
    ["a new hook", { review: plus("hook", "llm_input") }, "new hook: llm_input"],
    ["to be asked about installs", { review: plus("hook", "before_install") }, "new hook: before_install"],
    ["a new tool", { review: plus("function", "tool x") }, "new function: tool x"],
    ["a new address", { review: review({}, ["https://a.example", "https://b.example"]) }, "new address in its code: https://b.example"],
    ["a new package", { review: review({ dependencies: ["a@1.0.0", "@s/b@2.0.0"] }) }, "new required package: @s/b@2.0.0"],
    ["an older version", { review: review({ version: "0.9.9" }) }, "an older version: 1.0.0 → 0.9.9"],
    [
      "a critical finding",
      { review: review({ scan: { ...review().scan, findings: [{ rule: "r", severity: "critical", file: "x", line: 1, message: "m" }] } }) },
      "1 critical finding",
    ],
    ["nothing to compare with", { accepted: undefined }, "the accepted review cannot be read, so nothing can be compared"],
  ])("leaves an update with %s to a person", (_, facts, expected) => expect(against(facts)).toEqual([expected]));

  it("is off unless it is named", () => {
    for (const policy of [undefined, {}, { auto: "never" as const }, { minAgeDays: 0 }])
      expect(policyDecision(policy, { review: review(), accepted: review() } as UpdateFacts).isAccepted).toBe(false);
  });
});

describe("a minimum age", () => {
  const policy: UpdatePolicy = { auto: "same-permissions", minAgeDays: 7 };
  it.each([
    ["2026-06-08T00:00:00Z", []],
    ["2026-06-08T00:00:01Z", ["published on 2026-06-08, less than 7 days ago"]],
    ["2027-01-01T00:00:00Z", ["published on 2027-01-01, less than 7 days ago"]],
  ])("of 7 days, published at %s: %j", (at, expected) => expect(against({ publishedAt: new Date(at) }, policy)).toEqual(expected));

  it("that is not known is not old enough", () => {
    expect(against({ publishedAt: undefined }, policy)).toEqual(["the registry does not say when it was published"]);
    expect(against({ areDependenciesOld: false }, policy)).toEqual([
      "it requires a package that is less than 7 days old or of unknown age",
    ]);
  });
});

describe("a signature", () => {
  const policy: UpdatePolicy = { auto: "same-permissions", signedBy: [KEY] };
  const other = KEY.replace("A", "B");
  it.each([
    [{ state: "good", key: KEY } as const, []],
    [{ state: "none" } as const, ["it is not signed"]],
    [{ state: "bad" } as const, ["its signature does not match its files"]],
    [{ state: "good", key: other } as const, [`it is signed by ${other}, which update.signedBy does not name`]],
  ])("of %j: %j", (signed, expected) => expect(against({ signed }, policy)).toEqual(expected));

  it("does not cover the packages that it needs: other versions of them take a person", () => {
    const facts = { signed: { state: "good", key: KEY } as const, review: review({ dependencies: ["a@1.0.1"] }) };
    expect(against(facts, policy)).toEqual(["it requires other packages than before, which its signature does not cover"]);
  });
});

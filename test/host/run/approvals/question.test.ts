/** The parts of a question that a gateway may show alone, and the comparison of parameters: bounded, and never hiding anything. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RequestedApproval } from "creel";
import { changesOf } from "../../../../src/host/run/approvals/changes.ts";
import { describe as describeAll, entitle } from "../../../../src/host/run/approvals/summary.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";

const id = fc.constantFrom("guard", "evil", "a-plugin-with-a-name-that-is-rather-long", "x");
const request: fc.Arbitrary<RequestedApproval> = fc.record({
  pluginId: id,
  title: fc.string({ minLength: 1, maxLength: 80, unit: "binary" }),
  description: fc.string({ maxLength: 512, unit: "binary" }),
});
const change = fc.record({ pluginId: id, params: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })) });
const several = fc.array(request, { minLength: 2, maxLength: LIMITS.approval.requests });
const changes = fc.uniqueArray(change, { maxLength: 4, selector: ({ pluginId }) => pluginId });

describe("title and description of several requests", () => {
  it("keep to their bounds, say first how many there are, and are free of forged lines, whatever plugins write", () => {
    fc.assert(
      fc.property(several, changes, (requests, changed) => {
        const title = entitle(requests, changed);
        const lines = describeAll(requests, changed).split("\n");
        expect(title.length).toBeLessThanOrEqual(LIMITS.approval.titleChars);
        expect(title).toMatch(new RegExp(`^${requests.length} approvals${changed.length > 0 ? ", changed by " : ": "}`));
        expect(title).not.toContain("\n");
        expect(lines.join("\n").length).toBeLessThanOrEqual(LIMITS.approval.descriptionChars);
        // Every line begins with the plugin that it is about.
        expect(lines).toHaveLength(requests.length + changed.length);
        const ids = [...changed, ...requests].map(({ pluginId }) => pluginId);
        expect(lines.map((line) => ids.some((one) => line.startsWith(one.slice(0, 10))))).not.toContain(false);
      }),
    );
  });

  it("one request without changes is shown as the plugin wrote it", () => {
    const one = { pluginId: "p", title: "a\nb", description: "c\nd" };
    expect([entitle([one], []), describeAll([one], [])]).toEqual(["a\nb", "c\nd"]);
  });

  it("the first request of every plugin is shown before the second one of any", () => {
    const requests = ["evil", "evil", "evil", "guard"].map((pluginId, at) => ({ pluginId, title: String(at + 1), description: "" }));
    expect(entitle(requests, [])).toBe('4 approvals: evil "1"; guard "4"; evil "2"; evil "3"');
  });
});

describe("changes", () => {
  const by = { plugin: { id: "p" } };

  it("values that are equal by content are no change, and those too deep to compare are one", () => {
    let [left, right]: unknown[] = [1, 1];
    for (let depth = 0; depth < 200_000; depth++) [left, right] = [[left], [right]];
    const same = { by, before: { x: { y: [1] } }, after: { x: { y: [1] } }, requestCount: 1 };
    const deep = { by, before: { x: left }, after: { x: right }, requestCount: 2 };
    expect(changesOf([same], { params: {} })).toEqual({ changes: [], outdated: 0 });
    const { changes: found, outdated } = changesOf([same, deep], { params: {} });
    expect([found.map(({ params }) => Object.keys(params)), outdated]).toEqual([[["x"]], 2]);
  });

  it("parameters named like members of Object.prototype are data", () => {
    const after = JSON.parse(`{"__proto__":{"polluted":1},"constructor":2}`) as Record<string, unknown>;
    const { changes: found } = changesOf([{ by, before: undefined, after, requestCount: 1 }], { params: {} });
    expect(Object.keys(found[0]!.params)).toEqual(["__proto__", "constructor"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

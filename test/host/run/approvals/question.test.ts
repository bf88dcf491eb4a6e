/** The parts of a question that a gateway may show alone, and what a question may hold: bounded, and never hiding anything. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CATALOG } from "creel";
import type { RequestedApproval } from "creel";
import { boundedQuestionOf } from "../../../../src/host/run/approvals/question.ts";
import type { QuestionParts } from "../../../../src/host/run/approvals/question.ts";
import { describe as describeAll, entitle } from "../../../../src/host/run/approvals/summary.ts";
import type { RunInput } from "../../../../src/host/run/run-input.ts";
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

const parts = (params: Record<string, unknown>, given: Record<string, unknown> = {}): QuestionParts => ({
  input: {
    hook: CATALOG.before_tool_call,
    runId: "r",
    event: { params: given },
    eventText: JSON.stringify(given),
    context: {},
  } as unknown as RunInput,
  result: { params },
  requests: [{ pluginId: "p", title: "t", description: "d" }],
  changes: [],
  allowOnTimeout: false,
});

describe("a question of a run that plugins made long", () => {
  const many = LIMITS.approval.values + 1;
  const keys = Object.fromEntries(Array.from({ length: many }, (_, at) => [`k${at}`, 1]));

  it("is not made when they added more values than one shows, beside each other or within one", () => {
    expect(boundedQuestionOf(parts(keys))).toBeUndefined();
    expect(boundedQuestionOf(parts({ list: Array<number>(many).fill(1) }))).toBeUndefined();
    expect(boundedQuestionOf(parts({ text: "x".repeat(1_000_000) }))).toMatchObject({ pluginId: "p", title: "t" });
  });

  it("shows what the gateway gave itself, however long", () => {
    expect(boundedQuestionOf(parts(keys, keys))?.params).toEqual(keys);
  });
});

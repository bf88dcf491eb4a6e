/** What plugins ask for and what users answer, damaged: nothing but an allowing answer that was offered lets a call run, and a question is never larger than its schema. */
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import { plugin, silent } from "../support/host.ts";
import { demand, fuzz, fuzzing } from "./fuzz.ts";
import { bent, oddValue } from "./mutations.ts";

const REQUEST = {
  title: "Run it?",
  description: "rm",
  scope: "s",
  severity: "critical",
  timeoutMs: 1_000,
  timeoutBehavior: "deny",
  allowedDecisions: ["allow-once", "deny"],
};
/** A prompt that lasts is not what this is about. */
const soon = (request: unknown): unknown =>
  typeof request === "object" && request !== null && "timeoutMs" in request && typeof request.timeoutMs === "number"
    ? { ...request, timeoutMs: Math.min(request.timeoutMs, 50) }
    : request;

const scene = fc.record({
  requests: fc.array(bent([REQUEST]).map(soon), { minLength: 1, maxLength: 3 }),
  answer: fc.oneof(fc.constantFrom("allow-once", "allow-always", "deny", null, undefined, "ALLOW", "allow-once "), oddValue),
});

const asked: unknown[] = [];
let answer: unknown;
let host: Host;
const asks = (at: number): string =>
  `api.on("before_tool_call", (e) => (e.params.requests.length > ${at} ? { requireApproval: e.params.requests[${at}] } : undefined), { priority: ${-at} });`;
beforeAll(async () => {
  host = await openHost({
    isolation: "thread",
    lanes: 1,
    logger: silent,
    plugins: [0, 1, 2].map((at) => plugin(`asks-${at}`, asks(at))),
    gateway: {
      requestApproval: async (question) => {
        asked.push(question);
        return answer as never;
      },
    },
  });
});
afterAll(() => host.close());

it("a call that needs an approval runs only with an allowing answer to a question that was asked", fuzzing("approvals"), async () => {
  const cases = await fuzz("approvals", scene, async ({ requests, answer: given }) => {
    asked.length = 0;
    answer = given;
    for (const { id } of host.plugins()) await host.release(id);
    for (const one of host.approvals()) host.revokeApproval(one);
    const { decision, calls } = await host.run("before_tool_call", { toolName: "exec", params: { requests } });
    expect(["pass", "block"]).toContain(decision);
    expect(JSON.stringify(asked).length).toBeLessThan(200_000);
    const isAsked = asked.length > 0;
    const isAllowing = given === "allow-once" || given === "allow-always";
    // A request that its schema refuses is a failure, and this hook fails closed; without a request at all there is nothing to allow.
    const hasNone = requests.every((request) => request === undefined || request === null) || calls.every(({ status }) => status === "ok");
    if (decision === "pass") demand(isAsked ? isAllowing : hasNone, "a call ran because a user allowed it");
    if (isAsked && !isAllowing) demand(decision === "block", "any other answer blocks");
  });
  expect(cases).toBeGreaterThan(0);
});

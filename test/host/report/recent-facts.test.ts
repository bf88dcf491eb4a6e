/** What a host remembers for readers who come later: rare facts and log lines. */
import { expect, it } from "vitest";
import { HostEvents } from "../../../src/host/report/events.ts";
import { RecentFacts } from "../../../src/host/report/recent-facts.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const SECRET = "sk-very-secret-words";
const unchanged = (): never => ({ words: (text: string) => text.replaceAll(SECRET, "***") }) as never;

it("many facts of one kind do not push the others out, and both are bounded", () => {
  const events = new HostEvents("h-recent", () => {});
  const recent = new RecentFacts(events, unchanged);
  events.publish("restart", { why: "it died", lanes: [0], culprit: "p" });
  for (let at = 0; at < 3 * LIMITS.report.factsPerKind; at++)
    events.publish("refused", { plugin: "p", service: "kv.get", message: `${at}` });
  const kinds = recent.list().map(({ event }) => event);
  expect([kinds[0], kinds.length]).toEqual(["restart", 1 + LIMITS.report.factsPerKind]);
  expect(recent.list({ limit: 1 })).toMatchObject([{ event: "refused", fact: { message: `${3 * LIMITS.report.factsPerKind - 1}` } }]);
  events.close();
});

it("log lines are there without their secrets, with or without a run; what was delivered is not listed", () => {
  const events = new HostEvents("h-lines", () => {});
  const recent = new RecentFacts(events, unchanged);
  events.publish("log", { plugin: "p", level: "info", text: `token ${SECRET}`, runId: undefined });
  events.publish("log", { plugin: "p", level: "info", text: "of a run", runId: "r1" });
  const delivery = { plugin: "p", hook: "agent_end", id: "d", attempt: 1 };
  events.publish("delivery", { ...delivery, status: "delivered" });
  events.publish("delivery", { ...delivery, status: "dead", why: "it fails" });
  expect(recent.list()).toMatchObject([
    { event: "log", fact: { text: "token ***" } },
    { event: "log", fact: { text: "of a run" } },
    { event: "delivery", fact: { status: "dead" } },
  ]);
  expect(recent.logsOf("r1").map(({ text }) => text)).toEqual(["of a run"]);
  const [first] = recent.list();
  expect(recent.list({ since: first!.fact.seq })).toHaveLength(2);
  events.close();
});

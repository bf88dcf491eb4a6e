/** What a console keeps of a host as incidents, and the sentence that the page has for each. */
import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import type { ConsoleHost } from "../../src/console/console-host.ts";
import { Incidents } from "../../src/console/incidents.ts";
import type { Incident } from "../../src/console/incidents.ts";
import { incidentWords } from "../../src/console/page/incident-words.ts";
import { LIMITS } from "../../src/protocol/limits.ts";

function listening() {
  const facts = new EventEmitter();
  const told: Incident[] = [];
  const on = (name: string, heard: (fact: object) => void) => (facts.on(name, heard), () => facts.off(name, heard));
  const incidents = new Incidents({ id: "h1", on } as unknown as ConsoleHost, (incident) => told.push(incident));
  return { facts, told, incidents };
}

const chain = { rootRunId: "h1-1", depth: 1, path: ["p:a", "q:b"], runIds: ["h1-1"] };

it.each([
  ["restart", { why: "it died", culprit: "p", lanes: [0] }, "The sandbox was restarted because of p: it died"],
  ["restart", { why: "it died", culprit: undefined, lanes: [0] }, "The sandbox was restarted: it died"],
  ["quarantine", { plugin: "p", state: "open", why: "15 points" }, "p: its breaker is open: 15 points"],
  ["recursion", { plugin: "p", limit: "depth", chain }, "A loop of p was stopped (depth): p:a → q:b"],
  ["refused", { plugin: "p", service: "fetch", message: "not granted" }, "p was refused fetch: not granted"],
  ["replaced", { plugin: "p", why: "CPU time" }, "The cell of p was rebuilt: CPU time"],
  ["moved", { plugin: "p", lane: 1, why: "it was slow" }, "p was moved to another lane: it was slow"],
  ["plugin", { plugin: "p", status: "failed", error: "no entry", diagnostics: [] }, "p is failed: no entry"],
  [
    "delivery",
    { plugin: "p", hook: "session:end", id: "d1", attempt: 2, status: "dead", why: "it throws" },
    "p: an event of session:end (d1) was given up: it throws",
  ],
  ["approval", { what: "asked", id: "a", toolName: "exec" }, "exec waits for an approval"],
  ["approval", { what: "settled", id: "a", toolName: "exec", resolution: "deny", by: "ann" }, "exec: deny by ann"],
  ["approval", { what: "expired", id: "a", toolName: "exec" }, "exec: expired"],
])("a %s is an incident, in one sentence: %j", (kind, fact, words) => {
  const { facts, told, incidents } = listening();
  using _ = incidents;
  facts.emit(kind, { host: "h1", seq: 7, at: 1_000, ...fact });
  expect(told).toEqual([{ kind, number: 1, at: 1_000, fact }]);
  expect(incidentWords(told[0]!)).toBe(words);
});

it("is kept once, whether it was heard or remembered; each kind has its own bound, and a delivery that went well is none", () => {
  const { facts, told, incidents } = listening();
  using _ = incidents;
  const restart = { seq: 1, at: 1, why: "it died", lanes: [], culprit: undefined };
  facts.emit("restart", { host: "h1", ...restart });
  incidents.remember([{ event: "restart", fact: restart }]);
  facts.emit("delivery", { host: "h1", seq: 2, at: 2, plugin: "p", status: "delivered" });
  for (let seq = 10; seq < 10 + 2 * LIMITS.report.factsPerKind; seq++) facts.emit("refused", { host: "h1", seq, at: seq, plugin: "p" });
  expect(told).toHaveLength(1 + 2 * LIMITS.report.factsPerKind);
  expect(incidents.all().map(({ kind }) => kind)).toEqual([
    "restart",
    ...Array.from({ length: LIMITS.report.factsPerKind }, () => "refused"),
  ]);
});

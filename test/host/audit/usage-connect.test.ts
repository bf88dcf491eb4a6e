/** Which connections a plugin used and was refused, for `creel permissions suggest`. */
import { expect, it } from "vitest";
import { Usage } from "../../../src/host/audit/usage.ts";
import { CallCounts } from "../../../src/host/plugins/call-counts.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

it("counts by target, and a plugin that makes up targets does not fill the memory", () => {
  const usage = new Usage(new CallCounts());
  usage.connected("p", "db.example.com:5432", true);
  usage.connected("p", "db.example.com:5432", true);
  for (let port = 1; port <= 1_000; port++) usage.connected("p", `made-up.example.com:${port}`, false);
  const [line] = usage.changed();
  expect(line!.used).toEqual({ "connect:db.example.com:5432": 2 });
  expect(Object.keys(line!.refused)).toHaveLength(LIMITS.audit.requests);
});

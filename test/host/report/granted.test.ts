/** Uses of permissions are counted by the keys that `creel permissions` takes. */
import { expect, it } from "vitest";
import { connectKeyOf, fetchKeysOf, grantedTo, serviceKeyOf } from "../../../src/host/report/granted.ts";
import { grantOf, permissionKey } from "../../../src/protocol/config/permission-key.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";

const grants = {
  fetch: ["https://a.example", { origin: "https://b.example", pathPrefix: "/v1", methods: ["POST", "GET"] as ("POST" | "GET")[] }],
  connect: ["tls://db.example:5432"],
  session: ["patch" as const],
  kv: { maxBytes: 4096 },
  schedule: true as const,
};

it("the keys of what was granted are those of the command line", () => {
  const keys = grantedTo({ grants, isRequired: true } as unknown as Plugin).map(({ key }) => key);
  expect(keys).toEqual([
    "fetch:https://a.example",
    "fetch:https://b.example/v1#GET,POST",
    "connect:tls://db.example:5432",
    "session:patch",
    "kv:4096",
    "schedule",
    "required",
  ]);
  expect(keys.map((key) => permissionKey(grantOf(key)!))).toEqual(keys);
});

const url = (path: string) => new URL(path, "https://b.example");

it("a use is counted for each grant that allows it, and for no other", () => {
  expect(fetchKeysOf(grants, url("/v1/x"), "GET")).toEqual(["fetch:https://b.example/v1#GET,POST"]);
  expect(fetchKeysOf(grants, url("/v2"), "GET")).toEqual([]);
  expect(connectKeyOf(grants, "db.example:5432")).toBe("connect:tls://db.example:5432");
  expect([serviceKeyOf(grants, "kv"), serviceKeyOf(grants, "session:patch")]).toEqual(["kv:4096", "session:patch"]);
});

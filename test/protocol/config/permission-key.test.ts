/** A permission is written in one way: by its key. Older forms mean the same. */
import { describe, expect, it } from "vitest";
import { creelConfig, pluginManifest } from "../../../src/protocol/config/config.ts";
import { configKeysOf, grantOf, permissionFault, permissionKey, settled } from "../../../src/protocol/config/permission-key.ts";
import { requestedPermissions, requestsByKey, requestsByKind } from "../../../src/protocol/config/permissions.ts";
import { stated } from "../../../src/install/review/requested-permissions.ts";

const KEYS = [
  "fetch:https://api.example.com",
  "fetch:https://api.example.com/v1#GET,POST",
  "connect:db.example.com:5432",
  "connect:tls://cache.example.com:6380",
  "session:get",
  "session:patch",
  "env:REGION",
  "kv",
  "kv:65536",
  "fs",
  "schedule",
  "clock",
  "wasm",
  "conversation",
  "install",
];

const requests = (permissions: object) => stated(requestedPermissions.parse(requestsByKind(permissions)));

describe("a permission key", () => {
  it.each(KEYS)("%s is read and written back as it was", (key) => {
    expect(permissionKey(grantOf(key)!)).toBe(key);
    expect(permissionFault(key)).toBeUndefined();
  });

  it.each([
    ["kvv", "write one of kv, fs, schedule"],
    ["fetch:api.example.com", 'write "https://api.example.com"'],
    ["connect:db.example.com", "write host and port"],
    ["fetch:https://api.example.com with KEY", "is not an origin"],
    ["kv:lots", "cannot be granted by kv"],
  ])("%s is refused with what to write instead", (key, words) => {
    expect(grantOf(key)).toBeUndefined();
    expect(permissionFault(key)).toContain(words);
  });
});

describe("an entry of creel.json", () => {
  it("means the same by permissions as by grants, hooks and required", () => {
    const permissions = ["kv:65536", "fetch:https://a.example/v1#GET with KEY", "session:get", "conversation", "required"];
    const grants = {
      kv: { maxBytes: 65_536 },
      fetch: [{ origin: "https://a.example", pathPrefix: "/v1", methods: ["GET" as const], secret: "KEY" }],
      session: ["get" as const],
    };
    const { permissions: _, ...meant } = settled({ permissions, hooks: { timeoutMs: 5 } });
    expect(meant).toEqual({ grants, hooks: { timeoutMs: 5, allowConversationAccess: true }, required: true });
    expect(configKeysOf(grants)).toEqual(["fetch:https://a.example/v1#GET with KEY", "session:get", "kv:65536"]);
  });

  it("keeps kinds that permissions do not name, and takes nothing away with an empty list", () => {
    expect(settled({ permissions: ["kv"], grants: { kv: { maxBytes: 1 }, wasm: true } }).grants).toEqual({ kv: true, wasm: true });
    expect(settled({ permissions: [], grants: { wasm: true }, hooks: { allowPromptInjection: false } })).toMatchObject({
      grants: { wasm: true },
      hooks: { allowPromptInjection: false },
    });
  });

  it("with a key that is no permission is refused", () => {
    const { error } = creelConfig.safeParse({ plugins: { entries: { a: { permissions: ["kv", "shedule"] } } } });
    expect(error!.issues[0]).toMatchObject({
      path: ["plugins", "entries", "a", "permissions", 1],
      message: expect.stringContaining("schedule"),
    });
  });
});

describe("a manifest", () => {
  it("requests each permission by its key, with a reason", () => {
    const all = Object.fromEntries(KEYS.filter((key) => key !== "kv").map((key) => [key, `because ${key}`]));
    expect(Object.fromEntries(requests(all).map(({ key, reason }) => [key, reason]))).toEqual(all);
  });

  it("may mix both forms, and the hint has all in the newer one", () => {
    const mixed = {
      fetch: [{ origin: "https://a.example", reason: "a" }],
      "fetch:https://b.example": "b",
      kv: { reason: "k" },
      schedule: "s",
    };
    const newer = { "fetch:https://a.example": "a", "fetch:https://b.example": "b", kv: "k", schedule: "s" };
    expect(requestsByKey(mixed, requests(mixed))).toEqual(newer);
    expect(requestsByKey(newer, requests(newer))).toBeUndefined();
  });

  it.each([
    { shedule: "later" },
    { "fetch:a.example": "x" },
    { kv: 7 },
    { kv: "" },
    { required: "x" },
    JSON.parse('{"__proto__":"x"}') as object,
  ])("with %j is refused", (permissions) => {
    expect(pluginManifest.safeParse({ id: "a", permissions: requestsByKind(permissions) }).success).toBe(false);
  });
});

/** A permission and its key are two ways to say the same, and what was accepted covers what is less. */
import { describe, expect, it } from "vitest";
import { grantOf, permissionKey } from "../../../src/protocol/config/permission-key.ts";
import { acceptedBy, isCovered, permissionKeysOf } from "../../../src/install/review/permission-keys.ts";

const KEYS = [
  "fetch:https://api.example.com",
  "fetch:https://api.example.com/v1#GET,POST",
  "fetch:http://localhost:3000#HEAD",
  "session:get",
  "env:API_KEY",
  "kv:1024",
  "fs",
  "schedule",
  "clock",
  "wasm",
  "conversation",
  "prompt",
  "install",
];

describe("keys of permissions", () => {
  it("say what they mean, and back; all together they are what a host is told, and back", () => {
    for (const key of KEYS) expect(permissionKey(grantOf(key)!)).toBe(key);
    expect(permissionKeysOf(acceptedBy(KEYS, []))).toEqual(KEYS);
    expect(acceptedBy([], [])).toEqual({
      grants: {},
      permissions: { allowConversationAccess: false, allowPromptInjection: false, allowInstallDecisions: false },
    });
  });

  it.each([
    "fetch:*",
    "fetch:https://*.example.com",
    "fetch:api.example.com",
    "fetch:https://user@example.com",
    "fetch:https://api.example.com#EVERYTHING",
    "fetch:https://api.example.com/%2e%2e/",
    "session:delete",
    "env:A-B",
    "kv:-1",
    "kv:",
    "constructor",
    "",
  ])("%s is none, and the error names those that are", (key) => {
    expect(grantOf(key)).toBeUndefined();
    expect(() => acceptedBy([key], ["kv"])).toThrow(`"${key}" is not the key of a permission`);
  });

  it.each([
    ["fetch:https://a.example.com", "fetch:https://a.example.com/v1#GET", true],
    ["fetch:https://a.example.com/v1#GET", "fetch:https://a.example.com/v1/x#GET", true],
    ["fetch:https://a.example.com/v1", "fetch:https://a.example.com/v10", false],
    ["fetch:https://a.example.com/v1", "fetch:https://a.example.com", false],
    ["fetch:https://a.example.com#GET", "fetch:https://a.example.com#GET,POST", false],
    ["fetch:https://a.example.com#GET", "fetch:https://a.example.com", false],
    ["fetch:https://a.example.com", "fetch:https://b.example.com", false],
    ["kv:1024", "kv:1000", true],
    ["kv:1024", "kv", false],
    ["kv", "kv:1024", true],
    ["kv", "fs", false],
    ["session:get", "session:patch", false],
    ["env:A", "env:A", true],
    ["env:A", "env:B", false],
    ["conversation", "prompt", false],
    ["install", "install", true],
    ["conversation", "install", false],
    ["clock", "clock", true],
    ["clock", "wasm", false],
  ])("%s covers %s: %s", (given, asked, expected) => {
    expect(isCovered(grantOf(asked)!, acceptedBy([given], []))).toBe(expected);
  });
});

import { expect, it } from "vitest";
import { visibleConfig } from "../../../src/host/plugins/visible-config.ts";

const config = {
  gateway: { port: 1, auth: { mode: "token", token: "T" }, remote: { url: "wss://user:pw@host/x?access_token=abc&b=1" } },
  agents: { defaults: { model: "m", maxTokens: 4096, note: "use sk-abcdefghijkl please" } },
  models: { providers: { a: { apiKey: "K", api_key: "K", baseUrl: "https://x", headers: { Authorization: "Bearer x" } } } },
  channels: { telegram: { botToken: "B", enabled: true, tokens: { a: "x", n: 1 }, list: [{ password: "p" }] } },
  secrets: { a: "b" },
  stateDir: "/var/lib/x",
  sandbox: { walls: "auto" },
  env: { A: "1" },
  hooks: {
    failure: {},
    agent: { beforeTurn: [{ script: "/x.ts" }] },
    internal: { enabled: true, load: { extraDirs: ["/d"] }, entries: { h: { env: {} } } },
  },
  plugins: {
    allow: ["me"],
    load: { paths: ["/p"] },
    entries: {
      me: { config: { ignored: 1 }, env: { X: "y" }, grants: { kv: true }, hooks: { timeoutMs: 5 }, apiKey: "z" },
      other: { config: { api_key: "theirs" }, env: { X: "y" } },
    },
  },
} as const;

it("a plugin sees its own entry and the gateway's settings, without secrets, paths, variables, grants and other plugins", () => {
  expect(visibleConfig(structuredClone(config) as never, "me", { api_key: "mine" })).toEqual({
    gateway: {
      port: 1,
      auth: { mode: "[redacted]", token: "[redacted]" },
      remote: { url: "wss://[redacted]@host/x?access_token=[redacted]&b=1" },
    },
    agents: { defaults: { model: "m", maxTokens: 4096, note: "use [redacted] please" } },
    models: {
      providers: { a: { apiKey: "[redacted]", api_key: "[redacted]", baseUrl: "https://x", headers: { Authorization: "[redacted]" } } },
    },
    channels: {
      telegram: { botToken: "[redacted]", enabled: true, tokens: { a: "[redacted]", n: "[redacted]" }, list: [{ password: "[redacted]" }] },
    },
    hooks: { failure: {}, internal: { enabled: true } },
    plugins: { allow: ["me"], entries: { me: { enabled: true, hooks: { timeoutMs: 5 }, config: { api_key: "mine" } } } },
  });
});

it("a plugin without an entry sees the configuration it was given in code", () => {
  expect(visibleConfig({}, "me", { a: 1 })).toEqual({
    // OpenClaw's plugins read it without asking whether it is there.
    agents: { defaults: {} },
    plugins: { entries: { me: { enabled: true, config: { a: 1 } } } },
  });
});

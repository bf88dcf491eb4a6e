/** The real plugin in the real sandbox. The secrets are made up, and put together here so that no scanner takes them for real ones. */
import { openHost } from "creel";
import type { Host } from "creel";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const body = "a1B2c3D4e5F6g7H8i9J0".repeat(3);
const pem = (kind: string) => `-----BEGIN ${kind}PRIVATE KEY-----\n${body}\n${body}\n-----END ${kind}PRIVATE KEY-----`;
const SECRETS: readonly [name: string, secret: string][] = [
  ["API key", `sk-ant-${body}`],
  ["Stripe key", `sk_live_${body}`],
  ["GitHub token", `ghp_${body}`],
  ["GitHub token", `github_pat_${body}`],
  ["GitLab token", `glpat-${body}`],
  ["Slack token", `xoxb-${body}`],
  ["npm token", `npm_${body}`],
  ["AWS key id", `AKIA${"A1B2".repeat(4)}`],
  ["Google API key", `AIza${body}`],
  ["JSON web token", `eyJ${body}.eyJ${body}.${body}`],
  ["private key", pem("RSA ")],
  ["private key", pem("")],
];
const silent = pino({ level: "silent" });
const path = import.meta.dirname;
const patterns = [{ name: "employee id", pattern: "\\bemp-\\d{6}\\b", flags: "i" }];

const send = (host: Host, content: string) => host.run("message_sending", { to: "user", content }, { channelId: "demo" });

describe.each(["thread", "process"] as const)("redact-secrets, %s isolation", (isolation) => {
  let host: Host;
  beforeAll(async () => {
    host = await openHost({ isolation, lanes: 1, plugins: [{ path, config: { patterns } }], logger: silent });
  });
  afterAll(() => host.close());

  it.each(SECRETS)("takes a %s out of a message and leaves the rest", async (name, secret) => {
    const outcome = await send(host, `Here: ${secret} and that is all.`);
    expect(outcome).toMatchObject({ decision: "pass", result: { content: `Here: [redacted: ${name}] and that is all.` } });
  });

  it("keeps the words around a credential", async () => {
    const outcome = await send(host, `Authorization: Bearer ${body}\npassword = "hunter2hunter2"\napi_key: ${body}`);
    expect(outcome.result?.content).toBe(
      'Authorization: Bearer [redacted: bearer token]\npassword = "[redacted: credential]"\napi_key: [redacted: credential]',
    );
  });

  it.each([
    "Nothing to see here.",
    "pip install sk-learn-contrib-examples",
    "The password: required. The token: see the manual, chapter 12.",
    "-----BEGIN CERTIFICATE-----",
    "",
  ])("answers nothing when there is nothing to redact: %j", async (content) => {
    expect(await send(host, content)).toMatchObject({ decision: "pass", result: undefined });
  });

  it("takes out every secret of a message, and a key that was cut off up to the end", async () => {
    const outcome = await send(host, `ghp_${body}, ghp_${body}, -----BEGIN PRIVATE KEY-----\n${body}`);
    expect(outcome.result?.content).toBe("[redacted: GitHub token], [redacted: GitHub token], [redacted: private key]");
  });

  it("cancels a message that is nothing but a private key", async () => {
    const outcome = await send(host, `\n${pem("EC ")}\n`);
    expect(outcome).toMatchObject({ decision: "cancel", by: "redact-secrets", reason: "the message is a private key" });
  });

  it("redacts what the operator's own patterns name", async () => {
    expect((await send(host, "Ask EMP-123456.")).result?.content).toBe("Ask [redacted: employee id].");
  });

  it.each([
    ["half tokens", "eyJaaaaaaaa-"],
    ["dotted half tokens", "eyJaaaaaaaa.eyJaaaaaaaa."],
    ["key headers", "-----BEGIN PRIVATE KEY----- "],
    ["almost key headers", "-----BEGIN A A A A A A A A "],
    ["prefixes", "sk-sk_live_ghp_xoxb-glpat-"],
    ["credentials without a value", "token= api_key: bearer "],
  ])("stays far within its budget on a long text of %s", async (_, piece) => {
    const outcome = await send(host, `x${piece.repeat(Math.ceil(200_000 / piece.length))}`);
    expect(outcome.calls).toMatchObject([{ status: "ok" }]);
    expect(outcome.calls[0]!.cpuMs).toBeLessThan(80);
  });

  it.each([
    [{ patterns: "EMP" }, '"patterns" must be a list of { name, pattern }'],
    [{ patterns: [{ pattern: "x" }] }, "patterns[0].name must be a text"],
    [{ patterns: [{ name: "x", pattern: "(" }] }, "patterns[0].pattern: Invalid regular expression"],
    [{ patterns: [{ name: "x", pattern: "a*" }] }, "patterns[0].pattern matches the empty text"],
    [{ patterns: [{ name: "x", pattern: "a", flags: "y" }] }, "patterns[0].flags may have"],
  ])("does not load with a mistake in its configuration, and says which: %j", async (config, message) => {
    await using broken = await openHost({ isolation, lanes: 1, plugins: [{ path, config }], logger: silent });
    const report = broken.inspect("redact-secrets");
    expect(report.status).toBe("failed");
    expect(report.error?.message).toContain(message);
    expect(report.error?.at).toMatch(/config\.ts:\d+/);
  });

  it("stops the message instead of letting it out unread, if the operator says closed and a pattern runs wild", async () => {
    const wild = { patterns: [{ name: "wild", pattern: "(?:a+)+$" }] };
    const config = { hooks: { failure: { message_sending: "closed" as const } } };
    await using strict = await openHost({ isolation, lanes: 1, config, plugins: [{ path, config: wild }], logger: silent });
    const outcome = await send(strict, `${"a".repeat(40)}!`);
    expect(outcome).toMatchObject({ decision: "cancel", by: "redact-secrets", calls: [{ status: "cpu" }] });
  });
});

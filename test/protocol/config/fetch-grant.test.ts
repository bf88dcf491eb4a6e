/** Grants to fetch: what may be written, and what the operator is told to write instead. */
import { expect, it } from "vitest";
import { openHost } from "creel";
import { pluginGrants } from "../../../src/protocol/config/grants.ts";

it.each([
  "https://api.example.com",
  "http://localhost:3000",
  "http://127.0.0.1:8080",
  "http://[::1]:8080",
  { origin: "https://api.example.com", methods: ["GET", "POST"], pathPrefix: "/v1/" },
  { origin: "https://api.example.com", pathPrefix: "/" },
])("%j is a grant", (grant) => {
  expect(pluginGrants.safeParse({ fetch: [grant] }).success).toBe(true);
});

it.each([
  ["api.example.com", 'write "https://api.example.com"'],
  ["localhost:3000", "write scheme, host and port"],
  ["https://api.example.com/", 'write it as "https://api.example.com"'],
  ["https://API.example.com:443", 'write it as "https://api.example.com"'],
  ["http://2130706433", 'write it as "http://127.0.0.1"'],
  ["http://[::1]:80", 'write it as "http://[::1]"'],
  ["https://api.example.com/v1", 'write { "origin": "https://api.example.com", "pathPrefix": "/v1" }'],
  ["https://user:pw@api.example.com", 'no user name or password: write "https://api.example.com"'],
  ["https://*.example.com", "no wildcards"],
  ["*", "no wildcards"],
  ["ftp://example.com", "write scheme, host and port"],
  ["", 'write "https://api.example.com"'],
])("%j is not an origin, and says what to write", (origin, told) => {
  for (const grant of [origin, { origin }]) {
    const { error } = pluginGrants.safeParse({ fetch: [grant] });
    expect(error?.issues[0]?.message).toContain(told);
  }
});

it.each([
  ["v1", 'write it as "/v1"'],
  ["/v1/../v2", 'write it as "/v2"'],
  ["/v1?x=1", 'write it as "/v1"'],
  ["/v1/%2e%2e", 'write it as "/"'],
  ["/v1%2fx", "no encoded slashes"],
  ["//evil.example/x", "is not a path"],
])("%j is not a prefix, and says what to write", (pathPrefix, told) => {
  const { error } = pluginGrants.safeParse({ fetch: [{ origin: "https://api.example.com", pathPrefix }] });
  expect(error?.issues[0]?.message).toContain(told);
});

it.each([
  { origin: "https://api.example.com", methods: [] },
  { origin: "https://api.example.com", methods: ["get"] },
  { origin: "https://api.example.com", methods: ["CONNECT"] },
  { origin: "https://api.example.com", path: "/v1" },
  { pathPrefix: "/v1" },
  7,
])("%j is not a grant", (grant) => {
  expect(pluginGrants.safeParse({ fetch: [grant] }).success).toBe(false);
});

it("the operator sees which grant it is, and what to write, before anything is started", async () => {
  const grants = { fetch: ["https://a.example", "b.example/v1"] };
  await expect(openHost({ config: { plugins: { entries: { p: { grants } } } } })).rejects.toThrow(
    'the configuration is not valid at "plugins.entries.p.grants.fetch.1": "b.example/v1" is not an origin: write "https://b.example"',
  );
  await expect(openHost({ plugins: [{ id: "p", source: "export default () => {}", grants }] })).rejects.toThrow(/grants\.fetch\.1/);
});

/** Whether a path is below a prefix depends on what a server may decode it to, and takes time linear in its length. */
import { array, assert, constantFrom, property } from "fast-check";
import { expect, it, vi } from "vitest";
import { decoded, matchGrant } from "../../../../src/host/services/fetch/match-grant.ts";

/** Like a server that decodes again and again. */
function decodedAgainAndAgain(path: string): string {
  for (let last = path; ;) {
    const next = last.replaceAll(/%([\da-f]{2})/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)));
    if (next === last) return next;
    last = next;
  }
}

it.each([
  ["/v1/%2e%2e/x", "/v1/../x"],
  ["/v1/%252E%25252e/x", "/v1/../x"],
  ["/%%32%65/x", "/./x"],
  ["/%4%31/x", "/A/x"],
  ["/100%/%zz%2", "/100%/%zz%2"],
])("%s is decoded to %s", (path, plain) => {
  expect(decoded(path)).toBe(plain);
});

it("a path is decoded to what any number of decodings would make of it", () => {
  const escapes = array(constantFrom("%", "2", "5", "e", "E", "f", "F", "/", ".", "%25", "%2e", "a"), { maxLength: 40 });
  assert(
    property(escapes, (parts) => {
      expect(decoded(parts.join(""))).toBe(decodedAgainAndAgain(parts.join("")));
    }),
  );
});

it("escapes of escapes are decoded in one pass", () => {
  const made = vi.spyOn(String, "fromCharCode");
  const path = `/v1/%${"25".repeat(4_000)}2e%252e/`;
  const url = new URL(`https://api.example.com${path}`);
  expect(matchGrant([{ origin: url.origin, pathPrefix: "/v1" }], url, "GET")).toBe("path");
  // Decodes every escape once, also those that decoding creates.
  expect(made.mock.calls.length).toBeLessThan(path.length / 2 + 10);
  made.mockRestore();
});

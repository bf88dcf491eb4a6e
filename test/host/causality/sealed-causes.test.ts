/** Causes that all hosts of a fleet can read: the same key gives the chain back, and nothing else does. */
import { expect, it } from "vitest";
import type { Chain } from "../../../src/host/causality/causes.ts";
import { SealedCauses } from "../../../src/host/causality/sealed-causes.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const KEY = Buffer.alloc(32, 7);
const CHAIN: Chain = { rootRunId: "h1-1", depth: 2, path: ["a:x", "b:y"], runIds: ["h1-1", "h1-2"], by: "b", client: "gateway-1" };

it("another host with the same key has the chain, without what concerns the first host alone", () => {
  const token = new SealedCauses(KEY).issue(CHAIN);
  expect(new SealedCauses(KEY).chainOf(token)).toEqual({ ...CHAIN, client: undefined });
  expect(token).not.toBe(new SealedCauses(KEY).issue(CHAIN));
});

it("a token of another key, one that was changed anywhere, and one that is too old are none", () => {
  const clock = { ms: 1_000_000 };
  const seal = new SealedCauses(KEY, () => clock.ms);
  const token = seal.issue(CHAIN);
  expect(new SealedCauses(Buffer.alloc(32, 8), () => clock.ms).chainOf(token)).toBeUndefined();
  const bytes = Buffer.from(token.slice(3), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect(seal.chainOf(`f1.${changed.toString("base64url")}`)).toBeUndefined();
  }
  for (const text of ["", "f1.", "f1.AAAA", token.slice(3), `f1.${"A".repeat(LIMITS.causality.tokenChars)}`])
    expect(seal.chainOf(text)).toBeUndefined();
  clock.ms += LIMITS.causality.causeTokenMs;
  expect(seal.chainOf(token)?.depth).toBe(2);
  clock.ms += 1;
  expect(seal.chainOf(token)).toBeUndefined();
});

it("a long chain keeps its depth and its end, and fits into a header", () => {
  const path = Array.from({ length: 40 }, (_, at) => `${"p".repeat(LIMITS.call.nameChars)}${at}:hook`);
  const seal = new SealedCauses(KEY);
  const token = seal.issue({ ...CHAIN, depth: 40, path, runIds: path });
  expect(token.length).toBeLessThanOrEqual(LIMITS.causality.tokenChars);
  const chain = seal.chainOf(token)!;
  expect(chain.depth).toBe(40);
  expect(chain.path.length).toBeGreaterThan(0);
  expect(chain.path).toEqual(path.slice(-chain.path.length));
});

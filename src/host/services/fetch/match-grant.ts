/** Trusted side: where a plugin may send requests. Checked again for every redirect. */
import type { FetchGrant, FetchMethod } from "../../../protocol/config/fetch-grant.ts";

/** `granted`, or the part of the request that fails the best matching grant. */
export type GrantMatch = "granted" | "method" | "path" | "origin";

const RANK: Record<GrantMatch, number> = { granted: 3, method: 2, path: 1, origin: 0 };

// SECURITY: matches the parsed URL, never the plugin's text, so that what was checked is what is sent.
// test/contract/fetch.test.ts
export function matchGrant(grants: readonly FetchGrant[], url: URL, method: FetchMethod): GrantMatch {
  let best: GrantMatch = "origin";
  for (const grant of grants) {
    const match = matchOne(grant, url, method);
    if (RANK[match] > RANK[best]) best = match;
  }
  return best;
}

/** Names of the secrets to send: those of every grant that allows the request. */
export function secretsFor(grants: readonly FetchGrant[], url: URL, method: FetchMethod): string[] {
  const names = grants.flatMap((grant) =>
    typeof grant !== "string" && grant.secret !== undefined && matchOne(grant, url, method) === "granted" ? [grant.secret] : [],
  );
  return [...new Set(names)];
}

function matchOne(grant: FetchGrant, url: URL, method: FetchMethod): GrantMatch {
  if (typeof grant === "string") return url.origin === grant ? "granted" : "origin";
  if (url.origin !== grant.origin) return "origin";
  if (grant.pathPrefix !== undefined && !isBelow(url.pathname, grant.pathPrefix)) return "path";
  return grant.methods && !grant.methods.includes(method) ? "method" : "granted";
}

/** By whole segments: `/v1` covers `/v1/x`, not `/v10`. */
function isBelow(path: string, prefix: string): boolean {
  if (path !== prefix && !path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`)) return false;
  // The parser has resolved `..`, but not what a server may read as `..` after decoding the path once or several times.
  return !STEPS_UP.test(decoded(path));
}

/**
 * A segment of dots, alone or before a parameter (`..;x`). Some servers read a backslash as a slash, or an overlong
 * byte as a dot.
 */
const STEPS_UP = /(?:^|[/\\])\.{1,2}(?:$|[/\\;])|[\u00c0\u00c1]/;

/**
 * Decodes until nothing changes, in one pass: a decoded byte that completes another escape is decoded at once. Each
 * byte becomes one character, because malformed UTF-8 must not throw here. SECURITY: the path is the plugin's and may
 * be nothing but nested escapes. test/host/services/fetch/match-grant.test.ts
 */
export function decoded(path: string): string {
  if (!path.includes("%")) return path;
  const found: string[] = [];
  for (const unit of path) {
    found.push(unit);
    for (let byte = byteAtEnd(found); byte !== undefined; byte = byteAtEnd(found)) {
      found.length -= 3;
      found.push(String.fromCharCode(byte));
    }
  }
  return found.join("");
}

/** The byte that the last three characters encode, if they are an escape. */
function byteAtEnd(found: readonly string[]): number | undefined {
  const end = found.length;
  if (found[end - 3] !== "%") return undefined;
  const [high, low] = [found[end - 2]!, found[end - 1]!];
  return HEX.test(high) && HEX.test(low) ? Number.parseInt(high + low, 16) : undefined;
}

const HEX = /^[\da-f]$/i;

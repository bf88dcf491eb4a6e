/** Trusted side: where a plugin may send requests. Asked again for every hop of a redirect. */
import type { FetchGrant, FetchMethod } from "../../protocol/fetch-grant.ts";

/** `granted`, or what it failed at, as far as the best of the grants came. */
export type Verdict = "granted" | "method" | "path" | "origin";

const RANK: Record<Verdict, number> = { granted: 3, method: 2, path: 1, origin: 0 };

// SECURITY: the URL is the parser's, never the plugin's text; what is judged is what is sent. test/contract/fetch.test.ts
export function judge(grants: readonly FetchGrant[], url: URL, method: FetchMethod): Verdict {
  let best: Verdict = "origin";
  for (const grant of grants) {
    const verdict = judgeOne(grant, url, method);
    if (RANK[verdict] > RANK[best]) best = verdict;
  }
  return best;
}

/** Names of the secrets that go along: those of every grant that allows the request. */
export function secretsFor(grants: readonly FetchGrant[], url: URL, method: FetchMethod): string[] {
  const names = grants.flatMap((grant) =>
    typeof grant !== "string" && grant.secret !== undefined && judgeOne(grant, url, method) === "granted" ? [grant.secret] : [],
  );
  return [...new Set(names)];
}

function judgeOne(grant: FetchGrant, url: URL, method: FetchMethod): Verdict {
  if (typeof grant === "string") return url.origin === grant ? "granted" : "origin";
  if (url.origin !== grant.origin) return "origin";
  if (grant.pathPrefix !== undefined && !isBelow(url.pathname, grant.pathPrefix)) return "path";
  return grant.methods && !grant.methods.includes(method) ? "method" : "granted";
}

/** By whole segments: `/v1` is above `/v1/x`, not above `/v10`. */
function isBelow(path: string, prefix: string): boolean {
  if (path !== prefix && !path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`)) return false;
  // The parser has resolved `..`, but not what a server may take for one after it has decoded the path, once or several times.
  return !STEPS_UP.test(decoded(path));
}

/** A segment of dots, alone or before a parameter (`..;x`); some servers take a backslash for a slash, or an overlong byte for a dot. */
const STEPS_UP = /(?:^|[/\\])\.{1,2}(?:$|[/\\;])|[\u00c0\u00c1]/;

/** Decoded until nothing changes. Each byte becomes one character: malformed UTF-8 must not throw here. */
function decoded(path: string): string {
  let last = path;
  for (;;) {
    const next = last.replaceAll(/%([\da-f]{2})/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)));
    if (next === last) return next;
    last = next;
  }
}

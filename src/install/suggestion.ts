/**
 * Trusted side: the narrowest permissions with which an installed plugin could have done all that it did, from what the audit log knows of it, against
 * what it was granted. It knows what asks something of the host; what happens inside a cell (reading a variable or a file, an exact clock, WebAssembly)
 * it does not.
 */
import type { AuditRequest } from "../protocol/audit-line.ts";
import type { FetchMethod } from "../protocol/fetch-grant.ts";
import type { UsageSum } from "../state/audit-log.ts";
import type { LockEntry } from "../state/lock.ts";
import { definitionOf } from "./asks.ts";
import { grantOf, isCovered, keyOf, keysOf, wordsOf } from "./keys.ts";
import type { FetchRule, Grant } from "./keys.ts";
import type { Review } from "./review.ts";

/** `=` granted and used, `-` granted and not used (or not that much of it), `+` not granted and needed, `?` nobody can tell. */
export interface Suggestion {
  readonly sign: "=" | "-" | "+" | "?";
  readonly key: string;
  readonly words: string;
  readonly why: string;
}

type Known = Pick<Review, "permissions" | "scan"> | undefined;

export function suggestionsOf(entry: LockEntry, review: Known, usage: UsageSum): Suggestion[] {
  const granted = keysOf(entry).flatMap((key) => {
    const grant = grantOf(key);
    return grant ? ofGranted(entry, review, usage, key, grant) : [];
  });
  return [...granted, ...ofRefused(entry, review, usage)];
}

function ofGranted(entry: LockEntry, review: Known, usage: UsageSum, key: string, grant: Grant): Suggestion[] {
  const row = (sign: Suggestion["sign"], why: string): Suggestion[] => [{ sign, key, words: wordsOf(grant), why }];
  if (usage.since === undefined) return row("?", "nothing is known of it");
  if ("fetch" in grant) return ofFetch(grant.fetch, key, usage);
  if ("env" in grant)
    return row(
      "?",
      `its code ${review?.scan.env.includes(grant.env) ? "names it" : "does not name it"}; whether it reads it cannot be seen`,
    );
  if ("clock" in grant || "wasm" in grant) return row("?", "whether it is used cannot be seen");
  if ("conversation" in grant || "prompt" in grant) return [ofHooks(entry, usage, key, grant)];
  const name = "session" in grant ? `session:${grant.session}` : Object.keys(grant)[0]!;
  const count = usage.used.get(name) ?? 0;
  if (count > 0) return row("=", `used ${times(count)}`);
  const before = usage.refused.get(name) ?? 0;
  if (before > 0) return row("?", `refused ${times(before)} before it was granted, and not used since`);
  return "fs" in grant ? row("?", "it wrote no file; whether it reads any cannot be seen") : row("-", "never used");
}

/** A permission of hooks is used when one of the hooks that need it is called. */
function ofHooks({ hooks }: LockEntry, { calls }: UsageSum, key: string, grant: Grant): Suggestion {
  const needing = hooks.filter(({ hook }) => {
    const found = definitionOf(hook);
    if ("conversation" in grant) return found?.permission.includes("conversation");
    return found?.permission.includes("prompt") || found?.promptFields;
  });
  const count = needing.reduce((sum, { hook }) => sum + (calls.get(hook) ?? 0), 0);
  const names = needing.map(({ hook }) => hook).join(", ");
  const why =
    count > 0
      ? `${names}: called ${times(count)}`
      : needing.length > 0
        ? `${names}: never called; without it, not listened to`
        : "none of its hooks needs it";
  return { sign: count > 0 ? "=" : "-", key, words: wordsOf(grant), why };
}

function ofFetch(rule: FetchRule, key: string, { fetch, refusedFetch }: UsageSum): Suggestion[] {
  const within = (all: readonly AuditRequest[]): AuditRequest[] =>
    all.filter(({ origin, method }) => origin === rule.origin && (!rule.methods || rule.methods.includes(method as FetchMethod)));
  const requests = within(fetch);
  const words = wordsOf({ fetch: rule });
  if (requests.length === 0) {
    const before = within(refusedFetch).reduce((sum, one) => sum + one.count, 0);
    if (before > 0) return [{ sign: "?", key, words, why: `refused ${times(before)} before it was granted, and not used since` }];
    return [{ sign: "-", key, words, why: "never used" }];
  }
  const count = requests.reduce((sum, one) => sum + one.count, 0);
  // Below what is granted; paths of requests that another permission allowed may have gone into what they have in common.
  const narrower = rulesOf(requests).map((one) => ({ ...one, ...(isBelow(one, rule) ? {} : { pathPrefix: rule.pathPrefix }) }));
  const keys = [...new Set(narrower.map((one) => keyOf({ fetch: withoutUndefined(one) })))];
  if (keys.length === 1 && keys[0] === key) return [{ sign: "=", key, words, why: `used ${times(count)}` }];
  return [
    { sign: "-", key, words, why: "wider than what was used" },
    ...keys.map((one): Suggestion => ({ sign: "+", key: one, words: wordsOf(grantOf(one)!), why: `instead: ${times(count)} within it` })),
  ];
}

/** A rule for every path, with the methods that were used on it. */
function rulesOf(requests: readonly AuditRequest[]): FetchRule[] {
  const places = Map.groupBy(requests, ({ origin, path }) => `${origin} ${path}`);
  return Array.from(places.values(), (all) => {
    const [{ origin, path }] = all as [AuditRequest];
    return { origin, methods: all.map(({ method }) => method as FetchMethod), ...(path !== "/" && { pathPrefix: path }) };
  });
}

function isBelow({ pathPrefix: inner }: FetchRule, { pathPrefix: outer }: FetchRule): boolean {
  if (outer === undefined) return true;
  return inner !== undefined && (inner === outer || inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`));
}

function withoutUndefined({ pathPrefix, ...rule }: FetchRule): FetchRule {
  return pathPrefix === undefined ? rule : { ...rule, pathPrefix };
}

function ofRefused(entry: LockEntry, review: Known, { refused, refusedFetch }: UsageSum): Suggestion[] {
  const asked = new Set(review?.permissions.map(({ key }) => key));
  const row = (grant: Grant, count: number, isAsked: boolean): Suggestion[] =>
    isCovered(grant, entry)
      ? []
      : [
          {
            sign: "+",
            key: keyOf(grant),
            words: wordsOf(grant),
            why: `refused ${times(count)}${isAsked ? "" : "; it never asked to be granted it"}`,
          },
        ];
  const plain = [...refused].flatMap(([key, count]) => {
    const grant = grantOf(key);
    return grant ? row(grant, count, asked.has(key)) : [];
  });
  const requests = rulesOf(refusedFetch).flatMap((rule) => {
    const count = refusedFetch.filter(({ origin, method }) => origin === rule.origin && rule.methods!.includes(method as FetchMethod));
    const isAsked = review?.permissions.some(({ grant }) => "fetch" in grant && grant.fetch.origin === rule.origin) ?? false;
    return row(
      { fetch: rule },
      count.reduce((sum, one) => sum + one.count, 0),
      isAsked,
    );
  });
  return [...plain, ...requests];
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/**
 * Trusted side: the narrowest grants with which an installed plugin could have done what the audit log shows, compared
 * with its grants. The log has requests to the host; it does not have what happens inside a cell, such as reading
 * variables or files, an exact clock, or WebAssembly.
 */
import type { AuditRequest } from "../../protocol/audit-line.ts";
import type { FetchMethod } from "../../protocol/config/fetch-grant.ts";
import type { UsageSum } from "../../state/audit-log.ts";
import type { LockEntry } from "../../state/lock.ts";
import { definitionOf } from "./requested-permissions.ts";
import { grantOf, permissionKey } from "../../protocol/config/permission-key.ts";
import { isCovered, permissionKeysOf, wordsOf } from "./permission-keys.ts";
import type { FetchRule, Grant } from "../../protocol/config/permission-key.ts";
import type { Review } from "./review.ts";

/** `=` granted and used, `-` granted and not used (or wider than used), `+` needed and not granted, `?` unknown. */
export interface NarrowestGrant {
  readonly sign: "=" | "-" | "+" | "?";
  readonly key: string;
  readonly words: string;
  readonly why: string;
}

type Known = Pick<Review, "permissions" | "scan"> | undefined;

export function narrowestGrantsOf(entry: LockEntry, review: Known, usage: UsageSum): NarrowestGrant[] {
  const granted = permissionKeysOf(entry).flatMap((key) => {
    const grant = grantOf(key);
    return grant ? ofGranted(entry, review, usage, key, grant) : [];
  });
  return [...granted, ...ofRefused(entry, review, usage)];
}

function ofGranted(entry: LockEntry, review: Known, usage: UsageSum, key: string, grant: Grant): NarrowestGrant[] {
  const row = (sign: NarrowestGrant["sign"], why: string): NarrowestGrant[] => [{ sign, key, words: wordsOf(grant), why }];
  if (usage.since === undefined) return row("?", "it is not in the audit log");
  if ("fetch" in grant) return ofFetch(grant.fetch, key, usage);
  if ("env" in grant)
    return row(
      "?",
      `its code ${review?.scan.env.includes(grant.env) ? "names it" : "does not name it"}; whether it reads it is not logged`,
    );
  if ("required" in grant) return row("=", "it sets what a failure of the plugin means");
  if ("clock" in grant || "wasm" in grant) return row("?", "its use is not logged");
  if ("conversation" in grant || "prompt" in grant || "install" in grant) return [ofHooks(entry, usage, key, grant)];
  const name = "session" in grant ? `session:${grant.session}` : "connect" in grant ? key : Object.keys(grant)[0]!;
  const count = usage.used.get(name) ?? 0;
  if (count > 0) return row("=", `used ${times(count)}`);
  const before = usage.refused.get(name) ?? 0;
  if (before > 0) return row("?", `refused ${times(before)} before it was granted, and not used since`);
  return "fs" in grant ? row("?", "it wrote no file; reads are not logged") : row("-", "never used");
}

/** A permission of hooks is used when one of the hooks that need it is called. */
function ofHooks({ hooks }: LockEntry, { calls }: UsageSum, key: string, grant: Grant): NarrowestGrant {
  const needing = hooks.filter(({ hook }) => {
    const found = definitionOf(hook);
    if ("conversation" in grant) return found?.permission.includes("conversation");
    if ("install" in grant) return found?.permission.includes("install");
    return found?.permission.includes("prompt") || found?.promptFields;
  });
  const count = needing.reduce((sum, { hook }) => sum + (calls.get(hook) ?? 0), 0);
  const names = needing.map(({ hook }) => hook).join(", ");
  const why =
    count > 0
      ? `${names}: called ${times(count)}`
      : needing.length > 0
        ? `${names}: never called; without it, the plugin does not listen to them`
        : "none of its hooks needs it";
  return { sign: count > 0 ? "=" : "-", key, words: wordsOf(grant), why };
}

function ofFetch(rule: FetchRule, key: string, { fetch, refusedFetch }: UsageSum): NarrowestGrant[] {
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
  // Within what is granted. The common path of requests may include requests that another grant allowed.
  const narrower = rulesOf(requests).map((one) => ({ ...one, ...(isBelow(one, rule) ? {} : { pathPrefix: rule.pathPrefix }) }));
  const keys = [...new Set(narrower.map((one) => permissionKey({ fetch: withoutUndefined(one) })))];
  if (keys.length === 1 && keys[0] === key) return [{ sign: "=", key, words, why: `used ${times(count)}` }];
  return [
    { sign: "-", key, words, why: "wider than what was used" },
    ...keys.map((one): NarrowestGrant => ({
      sign: "+",
      key: one,
      words: wordsOf(grantOf(one)!),
      why: `instead: ${times(count)} within it`,
    })),
  ];
}

/** One rule per path, with the methods used on it. */
function rulesOf(requests: readonly AuditRequest[]): FetchRule[] {
  const byPath = Map.groupBy(requests, ({ origin, path }) => `${origin} ${path}`);
  return Array.from(byPath.values(), (all) => {
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

function ofRefused(entry: LockEntry, review: Known, { refused, refusedFetch }: UsageSum): NarrowestGrant[] {
  const asked = new Set(review?.permissions.map(({ key }) => key));
  const row = (grant: Grant, count: number, isAsked: boolean): NarrowestGrant[] =>
    isCovered(grant, entry)
      ? []
      : [
          {
            sign: "+",
            key: permissionKey(grant),
            words: wordsOf(grant),
            why: `refused ${times(count)}${isAsked ? "" : "; it never requested it"}`,
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

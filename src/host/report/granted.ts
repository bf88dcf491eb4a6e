/** Trusted side: what a plugin was granted, as keys that `creel permissions` takes, for its operator to read, and which grant a use is of. */
import type { FetchGrant, FetchMethod } from "../../protocol/config/fetch-grant.ts";
import { matchConnect } from "../../protocol/config/connect-grant.ts";
import type { Plugin } from "../plugins/plugin.ts";
import { matchGrant } from "../services/fetch/match-grant.ts";

export interface GrantedPermission {
  /** Such as `fetch:https://api.example.com` or `kv`. */
  readonly key: string;
  /** Its row in the table of permissions. */
  readonly kind: string;
}

type Grants = Plugin["grants"];

export function grantedTo({ grants, hooks, isRequired }: Plugin): GrantedPermission[] {
  const { fetch = [], connect = [], session = [], env = [] } = grants;
  const single = (["kv", "fs", "schedule", "clock", "wasm"] as const).filter((kind) => grants[kind]);
  return [
    ...fetch.map((rule) => ({ kind: "fetch", key: fetchKey(rule) })),
    ...connect.map((target) => ({ kind: "connect", key: `connect:${target}` })),
    ...session.map((access) => ({ kind: `session:${access}`, key: `session:${access}` })),
    ...env.map((name) => ({ kind: "env", key: `env:${name}` })),
    ...single.map((kind) => ({ kind, key: singleKey(grants, kind) })),
    ...(hooks?.allowConversationAccess === true ? [{ kind: "conversation", key: "conversation" }] : []),
    ...(isRequired ? [{ kind: "required", key: "required" }] : []),
  ];
}

/** The keys of all grants that allow the request. */
export function fetchKeysOf({ fetch = [] }: Grants, url: URL, method: FetchMethod): string[] {
  return fetch.filter((grant) => matchGrant([grant], url, method) === "granted").map(fetchKey);
}

export function connectKeyOf({ connect = [] }: Grants, target: string): string {
  return `connect:${matchConnect(connect, target) === "tls" ? "tls://" : ""}${target}`;
}

/** Of a service that needs this permission, such as `kv`. */
export function serviceKeyOf(grants: Grants, permission: string): string {
  return permission === "kv" || permission === "fs" ? singleKey(grants, permission) : permission;
}

function fetchKey(rule: FetchGrant): string {
  if (typeof rule === "string") return `fetch:${rule}`;
  const { origin, pathPrefix = "", methods } = rule;
  return `fetch:${origin}${pathPrefix}${methods ? `#${methods.toSorted().join(",")}` : ""}`;
}

function singleKey(grants: Grants, kind: "kv" | "fs" | "schedule" | "clock" | "wasm"): string {
  const grant = grants[kind];
  return typeof grant === "object" && "maxBytes" in grant ? `${kind}:${grant.maxBytes}` : kind;
}

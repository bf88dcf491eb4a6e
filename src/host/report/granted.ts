/** Trusted side: what a plugin was granted, as keys that `creel permissions` takes, for its operator to read. */
import type { Plugin } from "../plugins/plugin.ts";

export interface GrantedPermission {
  /** Such as `fetch:https://api.example.com` or `kv`. */
  readonly key: string;
  /** Its row in the table of permissions. */
  readonly kind: string;
}

export function grantedTo({ grants, hooks, isRequired }: Plugin): GrantedPermission[] {
  const { fetch = [], connect = [], session = [], env = [] } = grants;
  const single = (["kv", "fs", "schedule", "clock", "wasm"] as const).filter((kind) => grants[kind]);
  return [
    ...fetch.map((rule) => ({ kind: "fetch", key: `fetch:${typeof rule === "string" ? rule : `${rule.origin}${rule.pathPrefix ?? ""}`}` })),
    ...connect.map((target) => ({ kind: "connect", key: `connect:${target}` })),
    ...session.map((access) => ({ kind: `session:${access}`, key: `session:${access}` })),
    ...env.map((name) => ({ kind: "env", key: `env:${name}` })),
    ...single.map((kind) => ({ kind, key: kind })),
    ...(hooks?.allowConversationAccess === true ? [{ kind: "conversation", key: "conversation" }] : []),
    ...(isRequired ? [{ kind: "required", key: "required" }] : []),
  ];
}

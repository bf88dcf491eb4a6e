/**
 * Trusted side: single permissions, so that a person can accept or refuse each, and their keys:
 * `fetch:https://api.example.com/v1#GET`, `connect:db.example.com:5432`, `session:get`, `env:NAME`, `kv`. The accepted keys become the grants of the
 * host.
 */
import { suggest } from "../../text/did-you-mean.ts";
import { pluginGrants } from "../../protocol/config/grants.ts";
import type { Grants } from "../../protocol/config/config.ts";
import { connectIncludes, isSecureTarget } from "../../protocol/config/connect-grant.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { FetchGrant } from "../../protocol/config/fetch-grant.ts";
import type { LockEntry } from "../../state/lock.ts";

export type FetchRule = Exclude<FetchGrant, string>;
type Sized = true | { readonly maxBytes: number };

/** One permission. */
export type Grant =
  | { readonly fetch: FetchRule }
  | { readonly connect: string }
  | { readonly session: "get" | "patch" }
  | { readonly env: string }
  | { readonly kv: Sized }
  | { readonly fs: Sized }
  | { readonly schedule: true }
  | { readonly clock: "fine" }
  | { readonly wasm: true }
  | { readonly conversation: true }
  | { readonly prompt: true }
  | { readonly required: true }
  | { readonly install: true };

export type Accepted = Pick<LockEntry, "grants" | "permissions">;

const PLAIN = {
  kv: { kv: true },
  fs: { fs: true },
  schedule: { schedule: true },
  clock: { clock: "fine" },
  wasm: { wasm: true },
  conversation: { conversation: true },
  prompt: { prompt: true },
  required: { required: true },
  install: { install: true },
  "session:get": { session: "get" },
  "session:patch": { session: "patch" },
} as const satisfies Record<string, Grant>;

const WORDS = {
  kv: "keep its own data across restarts",
  fs: "write files into its own folder",
  schedule: "run later, on its own schedule",
  clock: "measure time exactly, and so observe other plugins",
  wasm: "run WebAssembly, whose memory is not part of its heap limit",
  conversation: "read conversations: what users and models say",
  prompt: "change prompts: what models are told",
  required: "stop everything its hooks decide about whenever it fails or does not load",
  install: "refuse every later installation, even by failing",
} as const;

/** What a plugin can do with it. */
export function wordsOf(grant: Grant): string {
  if ("fetch" in grant) {
    const { origin, methods, pathPrefix = "" } = grant.fetch;
    return `send ${methods ? methods.toSorted().join(", ") : "any"} requests to ${origin}${pathPrefix}`;
  }
  if ("connect" in grant)
    return isSecureTarget(grant.connect)
      ? `open TLS connections to ${grant.connect.slice("tls://".length)}, and say anything there`
      : `open connections to ${grant.connect}, and say anything there`;
  if ("session" in grant) return grant.session === "get" ? "read session entries" : "change session entries";
  if ("env" in grant) return `read the gateway's environment variable ${grant.env}`;
  return WORDS[Object.keys(grant)[0] as keyof typeof WORDS];
}

export function permissionKey(grant: Grant): string {
  if ("fetch" in grant) {
    const { origin, methods, pathPrefix = "" } = grant.fetch;
    return `fetch:${origin}${pathPrefix}${methods ? `#${methods.toSorted().join(",")}` : ""}`;
  }
  if ("kv" in grant) return grant.kv === true ? "kv" : `kv:${grant.kv.maxBytes}`;
  if ("fs" in grant) return grant.fs === true ? "fs" : `fs:${grant.fs.maxBytes}`;
  const [[name, value]] = Object.entries(grant) as [[string, unknown]];
  return name === "session" || name === "env" || name === "connect" ? `${name}:${String(value)}` : name;
}

/** The permission of a key; undefined: the key is not valid. */
export function grantOf(key: string): Grant | undefined {
  if (Object.hasOwn(PLAIN, key)) return PLAIN[key as keyof typeof PLAIN];
  const [, name, rest = ""] = /^(fetch|connect|env|kv|fs):(.+)$/s.exec(key) ?? [];
  if (name === undefined) return undefined;
  const { fetch, connect, env, kv, fs } = pluginGrants.safeParse({ [name]: unchecked(name, rest) }).data ?? {};
  if (fetch) return { fetch: fetch[0] as FetchRule };
  if (connect) return { connect: connect[0]! };
  if (env) return { env: env[0]! };
  if (kv) return { kv };
  return fs && { fs };
}

function unchecked(name: string, rest: string): unknown {
  if (name === "env" || name === "connect") return [rest];
  if (name !== "fetch") return { maxBytes: Number(rest) };
  const [address = "", methods] = rest.split("#");
  const [, origin = address, pathPrefix] = /^([a-z]+:\/\/[^/]+)(\/.*)?$/.exec(address) ?? [];
  return [{ origin, ...(pathPrefix !== undefined && { pathPrefix }), ...(methods !== undefined && { methods: methods.split(",") }) }];
}

export function permissionKeysOf({ grants, permissions }: Accepted): string[] {
  const { fetch = [], connect = [], session = [], env = [], kv, fs, schedule, clock, wasm } = grants;
  const all: Grant[] = [
    ...fetch.map((rule) => ({ fetch: typeof rule === "string" ? { origin: rule } : rule })),
    ...connect.map((target) => ({ connect: target })),
    ...session.map((access) => ({ session: access })),
    ...env.map((name) => ({ env: name })),
    ...(kv ? [{ kv }] : []),
    ...(fs ? [{ fs }] : []),
    ...(schedule ? [{ schedule }] : []),
    ...(clock ? [{ clock }] : []),
    ...(wasm ? [{ wasm }] : []),
    ...(permissions.allowConversationAccess === true ? [{ conversation: true } as const] : []),
    ...(permissions.allowPromptInjection === false ? [] : [{ prompt: true } as const]),
    ...(permissions.required === true ? [{ required: true } as const] : []),
    ...(permissions.allowInstallDecisions === true ? [{ install: true } as const] : []),
  ];
  return all.map(permissionKey);
}

/** The grants for the host. Everything else is denied. `known` are the keys to suggest for a misspelt one. */
export function acceptedBy(keys: Iterable<string>, known: readonly string[]): Accepted {
  const grants: { -readonly [K in keyof Grants]: Grants[K] } = {};
  let allowConversationAccess = false;
  let allowPromptInjection = false;
  let isRequired = false;
  let allowInstallDecisions = false;
  for (const key of keys) {
    const grant = grantOf(key);
    if (!grant)
      throw new CreelError("ERR_INSTALL_GRANT", { key, hint: suggest(key, known), known: known.join(", ") || "it requests none" });
    if ("fetch" in grant) grants.fetch = [...(grants.fetch ?? []), grant.fetch];
    else if ("connect" in grant) grants.connect = [...(grants.connect ?? []), grant.connect];
    else if ("session" in grant) grants.session = [...(grants.session ?? []), grant.session];
    else if ("env" in grant) grants.env = [...(grants.env ?? []), grant.env];
    else if ("conversation" in grant) allowConversationAccess = true;
    else if ("prompt" in grant) allowPromptInjection = true;
    else if ("required" in grant) isRequired = true;
    else if ("install" in grant) allowInstallDecisions = true;
    else Object.assign(grants, grant);
  }
  return {
    grants,
    permissions: { allowConversationAccess, allowPromptInjection, allowInstallDecisions, ...(isRequired && { required: true }) },
  };
}

/** Is it within what was accepted before? */
export function isCovered(grant: Grant, { grants, permissions }: Accepted): boolean {
  if ("fetch" in grant)
    return (grants.fetch ?? []).some((given) => includes(typeof given === "string" ? { origin: given } : given, grant.fetch));
  if ("connect" in grant) return (grants.connect ?? []).some((given) => connectIncludes(given, grant.connect));
  if ("session" in grant) return grants.session?.includes(grant.session) ?? false;
  if ("env" in grant) return grants.env?.includes(grant.env) ?? false;
  if ("conversation" in grant) return permissions.allowConversationAccess === true;
  if ("prompt" in grant) return permissions.allowPromptInjection !== false;
  if ("required" in grant) return permissions.required === true;
  if ("install" in grant) return permissions.allowInstallDecisions === true;
  if ("kv" in grant) return isLarge(grants.kv, grant.kv);
  if ("fs" in grant) return isLarge(grants.fs, grant.fs);
  return Object.keys(grant).every((name) => grants[name as keyof Grants] !== undefined);
}

function includes(given: FetchRule, asked: FetchRule): boolean {
  if (given.origin !== asked.origin) return false;
  if (given.methods && !asked.methods?.every((method) => given.methods!.includes(method))) return false;
  if (given.pathPrefix === undefined) return true;
  const [outer, inner] = [given.pathPrefix, asked.pathPrefix];
  return inner !== undefined && (inner === outer || inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`));
}

function isLarge(given: Sized | undefined, asked: Sized): boolean {
  if (given === undefined || given === true) return given === true;
  return asked !== true && asked.maxBytes <= given.maxBytes;
}

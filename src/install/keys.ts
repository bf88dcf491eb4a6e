/**
 * Trusted side: single permissions, so that a person can say yes or no to each, and the keys that name them: `fetch:https://api.example.com/v1#GET`,
 * `session:get`, `env:NAME`, `kv`. What was accepted is a set of them, and a set of them is what a host is told.
 */
import { suggest } from "../host/suggest.ts";
import { pluginGrants } from "../protocol/config.ts";
import type { Grants } from "../protocol/config.ts";
import { CreelError } from "../protocol/errors.ts";
import type { FetchGrant } from "../protocol/fetch-grant.ts";
import type { LockEntry } from "../state/lock.ts";

export type FetchRule = Exclude<FetchGrant, string>;
type Sized = true | { readonly maxBytes: number };

/** One permission. */
export type Grant =
  | { readonly fetch: FetchRule }
  | { readonly session: "get" | "patch" }
  | { readonly env: string }
  | { readonly kv: Sized }
  | { readonly fs: Sized }
  | { readonly schedule: true }
  | { readonly clock: "fine" }
  | { readonly wasm: true }
  | { readonly conversation: true }
  | { readonly prompt: true };

export type Accepted = Pick<LockEntry, "grants" | "permissions">;

const PLAIN = {
  kv: { kv: true },
  fs: { fs: true },
  schedule: { schedule: true },
  clock: { clock: "fine" },
  wasm: { wasm: true },
  conversation: { conversation: true },
  prompt: { prompt: true },
  "session:get": { session: "get" },
  "session:patch": { session: "patch" },
} as const satisfies Record<string, Grant>;

const WORDS = {
  kv: "keep data of its own across restarts",
  fs: "write files into a folder of its own",
  schedule: "work at later times, by itself",
  clock: "measure time exactly, and so what its neighbours do",
  wasm: "run WebAssembly, whose memory its heap limit does not count",
  conversation: "read conversations: what users and models say",
  prompt: "change prompts: what models are told",
} as const;

/** What a plugin could do with it. */
export function wordsOf(grant: Grant): string {
  if ("fetch" in grant) {
    const { origin, methods, pathPrefix = "" } = grant.fetch;
    return `send ${methods ? methods.toSorted().join(", ") : "any"} requests to ${origin}${pathPrefix}`;
  }
  if ("session" in grant) return grant.session === "get" ? "read session entries" : "change session entries";
  if ("env" in grant) return `see the gateway's variable ${grant.env}`;
  return WORDS[Object.keys(grant)[0] as keyof typeof WORDS];
}

export function keyOf(grant: Grant): string {
  if ("fetch" in grant) {
    const { origin, methods, pathPrefix = "" } = grant.fetch;
    return `fetch:${origin}${pathPrefix}${methods ? `#${methods.toSorted().join(",")}` : ""}`;
  }
  if ("kv" in grant) return grant.kv === true ? "kv" : `kv:${grant.kv.maxBytes}`;
  if ("fs" in grant) return grant.fs === true ? "fs" : `fs:${grant.fs.maxBytes}`;
  const [[name, value]] = Object.entries(grant) as [[string, unknown]];
  return name === "session" || name === "env" ? `${name}:${String(value)}` : name;
}

/** What a key means, whoever wrote it; undefined: nothing. */
export function grantOf(key: string): Grant | undefined {
  if (Object.hasOwn(PLAIN, key)) return PLAIN[key as keyof typeof PLAIN];
  const [, name, rest = ""] = /^(fetch|env|kv|fs):(.+)$/s.exec(key) ?? [];
  if (name === undefined) return undefined;
  const { fetch, env, kv, fs } = pluginGrants.safeParse({ [name]: unchecked(name, rest) }).data ?? {};
  if (fetch) return { fetch: fetch[0] as FetchRule };
  if (env) return { env: env[0]! };
  if (kv) return { kv };
  return fs && { fs };
}

function unchecked(name: string, rest: string): unknown {
  if (name === "env") return [rest];
  if (name !== "fetch") return { maxBytes: Number(rest) };
  const [address = "", methods] = rest.split("#");
  const [, origin = address, pathPrefix] = /^([a-z]+:\/\/[^/]+)(\/.*)?$/.exec(address) ?? [];
  return [{ origin, ...(pathPrefix !== undefined && { pathPrefix }), ...(methods !== undefined && { methods: methods.split(",") }) }];
}

export function keysOf({ grants, permissions }: Accepted): string[] {
  const { fetch = [], session = [], env = [], kv, fs, schedule, clock, wasm } = grants;
  const all: Grant[] = [
    ...fetch.map((rule) => ({ fetch: typeof rule === "string" ? { origin: rule } : rule })),
    ...session.map((access) => ({ session: access })),
    ...env.map((name) => ({ env: name })),
    ...(kv ? [{ kv }] : []),
    ...(fs ? [{ fs }] : []),
    ...(schedule ? [{ schedule }] : []),
    ...(clock ? [{ clock }] : []),
    ...(wasm ? [{ wasm }] : []),
    ...(permissions.allowConversationAccess === true ? [{ conversation: true } as const] : []),
    ...(permissions.allowPromptInjection === false ? [] : [{ prompt: true } as const]),
  ];
  return all.map(keyOf);
}

/** What a host is told. What is not among the keys is denied. `known` are those that may have been meant. */
export function acceptedBy(keys: Iterable<string>, known: readonly string[]): Accepted {
  const grants: { -readonly [K in keyof Grants]: Grants[K] } = {};
  let allowConversationAccess = false;
  let allowPromptInjection = false;
  for (const key of keys) {
    const grant = grantOf(key);
    if (!grant)
      throw new CreelError("ERR_INSTALL_GRANT", { key, hint: suggest(key, known), known: known.join(", ") || "it asks for none" });
    if ("fetch" in grant) grants.fetch = [...(grants.fetch ?? []), grant.fetch];
    else if ("session" in grant) grants.session = [...(grants.session ?? []), grant.session];
    else if ("env" in grant) grants.env = [...(grants.env ?? []), grant.env];
    else if ("conversation" in grant) allowConversationAccess = true;
    else if ("prompt" in grant) allowPromptInjection = true;
    else Object.assign(grants, grant);
  }
  return { grants, permissions: { allowConversationAccess, allowPromptInjection } };
}

/** Is it within what was accepted before? */
export function isCovered(grant: Grant, { grants, permissions }: Accepted): boolean {
  if ("fetch" in grant)
    return (grants.fetch ?? []).some((given) => includes(typeof given === "string" ? { origin: given } : given, grant.fetch));
  if ("session" in grant) return grants.session?.includes(grant.session) ?? false;
  if ("env" in grant) return grants.env?.includes(grant.env) ?? false;
  if ("conversation" in grant) return permissions.allowConversationAccess === true;
  if ("prompt" in grant) return permissions.allowPromptInjection !== false;
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

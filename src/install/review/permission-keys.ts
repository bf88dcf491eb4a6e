/**
 * Trusted side: permissions as a person accepts or refuses them: what each means in words, which keys an installed plugin has, and whether a new
 * request is within what was accepted. The keys themselves are in protocol/config/permission-key.ts.
 */
import { suggest } from "../../text/did-you-mean.ts";
import { connectIncludes, isSecureTarget } from "../../protocol/config/connect-grant.ts";
import type { Grants } from "../../protocol/config/grants.ts";
import { byKind, grantOf, grantsIn, permissionKey } from "../../protocol/config/permission-key.ts";
import type { FetchRule, Grant, Sized } from "../../protocol/config/permission-key.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { LockEntry } from "../../state/lock.ts";

export type Accepted = Pick<LockEntry, "grants" | "permissions">;

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

export function permissionKeysOf({ grants, permissions }: Accepted): string[] {
  const all: Grant[] = [
    ...grantsIn(grants),
    ...(permissions.allowConversationAccess === true ? [{ conversation: true } as const] : []),
    ...(permissions.allowPromptInjection === false ? [] : [{ prompt: true } as const]),
    ...(permissions.required === true ? [{ required: true } as const] : []),
    ...(permissions.allowInstallDecisions === true ? [{ install: true } as const] : []),
  ];
  return all.map(permissionKey);
}

/** The grants for the host. Everything else is denied. `known` are the keys to suggest for a misspelt one. */
export function acceptedBy(keys: Iterable<string>, known: readonly string[]): Accepted {
  const all = Array.from(keys, (key) => {
    const grant = grantOf(key);
    if (!grant)
      throw new CreelError("ERR_INSTALL_GRANT", { key, hint: suggest(key, known), known: known.join(", ") || "it requests none" });
    return grant;
  });
  const { grants, hooks, required } = byKind(all);
  const { allowConversationAccess = false, allowPromptInjection = false, allowInstallDecisions = false } = hooks;
  return { grants, permissions: { allowConversationAccess, allowPromptInjection, allowInstallDecisions, ...(required && { required }) } };
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

/**
 * Trusted side: what a plugin would be granted, one by one, so that a person can say yes or no to each: what its manifest asks for, what its hooks
 * need, and, for packages that state nothing, what their code seems to need.
 */
import type { Builtin, BundleScan } from "../host/bundler-message.ts";
import type { AnyHook } from "../protocol/catalog.ts";
import { CATALOG, familyOf } from "../protocol/catalog.ts";
import { pluginGrants } from "../protocol/config.ts";
import type { Grants } from "../protocol/config.ts";
import { origin as originSchema } from "../protocol/fetch-grant.ts";
import type { FetchGrant } from "../protocol/fetch-grant.ts";
import type { RequestedPermissions } from "../protocol/permissions.ts";
import type { LockEntry } from "../state/lock.ts";

export interface Ask {
  /** What it is called on the command line, such as `fetch:https://api.example.com` or `kv`. */
  readonly key: string;
  /** `manifest`: the author asks for it. `hooks`: a hook it registers needs it. `scan`: nobody asks; its code looks as if it needed it. */
  readonly from: "manifest" | "hooks" | "scan";
  /** What it could do then. */
  readonly words: string;
  /** The author's. */
  readonly reason: string | undefined;
  readonly grant: AskGrant;
}

type FetchRule = Exclude<FetchGrant, string>;
export type AskGrant =
  | { readonly fetch: FetchRule }
  | { readonly session: "get" | "patch" }
  | { readonly env: string }
  | Pick<Grants, "kv">
  | Pick<Grants, "fs">
  | Pick<Grants, "schedule">
  | Pick<Grants, "clock">
  | Pick<Grants, "wasm">
  | { readonly conversation: true }
  | { readonly prompt: true };

export interface Accepted {
  readonly grants: Grants;
  readonly permissions: LockEntry["permissions"];
}

const SESSION = { get: "read session entries", patch: "change session entries" } as const;
const WORDS = {
  kv: "keep data of its own across restarts",
  fs: "write files into a folder of its own",
  schedule: "work at later times, by itself",
  clock: "measure time exactly, and so what its neighbours do",
  wasm: "run WebAssembly, whose memory its heap limit does not count",
  conversation: "read conversations: what users and models say",
  prompt: "change prompts: what models are told",
} as const;

/** `hooks` are the names that it registered. */
export function asksOf(
  permissions: RequestedPermissions | undefined,
  hooks: readonly string[],
  scan: BundleScan,
  builtins: readonly Builtin[],
): Ask[] {
  const stated = permissions ? statedAsks(permissions) : [];
  const needed = hookAsks(hooks, permissions);
  const asks = [...stated, ...needed, ...(permissions ? [] : candidates(scan, builtins))];
  return asks.filter(({ key }, at) => asks.findIndex((other) => other.key === key) === at);
}

function statedAsks({ fetch = [], kv, session = [], env = [], fs, schedule, clock, wasm }: RequestedPermissions): Ask[] {
  const from = "manifest" as const;
  const asks: Ask[] = fetch.map(({ reason, ...rule }) => fetchAsk(rule, from, reason));
  for (const { access, reason } of session)
    asks.push({ key: `session:${access}`, from, words: SESSION[access], reason, grant: { session: access } });
  for (const { name, reason } of env) asks.push(envAsk(name, from, reason));
  if (kv) asks.push({ key: sizedKey("kv", kv.maxBytes), from, words: WORDS.kv, reason: kv.reason, grant: { kv: sized(kv.maxBytes) } });
  if (fs) asks.push({ key: sizedKey("fs", fs.maxBytes), from, words: WORDS.fs, reason: fs.reason, grant: { fs: sized(fs.maxBytes) } });
  if (schedule) asks.push({ key: "schedule", from, words: WORDS.schedule, reason: schedule.reason, grant: { schedule: true } });
  if (clock) asks.push({ key: "clock", from, words: WORDS.clock, reason: clock.reason, grant: { clock: "fine" } });
  if (wasm) asks.push({ key: "wasm", from, words: WORDS.wasm, reason: wasm.reason, grant: { wasm: true } });
  return asks;
}

function hookAsks(names: readonly string[], permissions: RequestedPermissions | undefined): Ask[] {
  const hooks = names.flatMap((name) => definitionOf(name) ?? []);
  const asks: Ask[] = [];
  const conversation = permissions?.conversation;
  if (conversation || hooks.some(({ permission }) => permission.includes("conversation")))
    asks.push({
      key: "conversation",
      from: conversation ? "manifest" : "hooks",
      words: WORDS.conversation,
      reason: conversation?.reason,
      grant: { conversation: true },
    });
  if (hooks.some(({ permission, promptFields }) => permission.includes("prompt") || promptFields))
    asks.push({ key: "prompt", from: "hooks", words: WORDS.prompt, reason: undefined, grant: { prompt: true } });
  return asks;
}

/** Whoever has no way to ask may be offered what their code shows. It may never use it: a candidate is granted only by name. */
function candidates({ origins, env, uses }: BundleScan, builtins: readonly Builtin[]): Ask[] {
  const from = "scan" as const;
  const has = (...names: string[]): boolean => builtins.some(({ name }) => names.includes(name));
  const asks: Ask[] = [];
  if (uses.includes("fetch") || has("http", "https"))
    for (const { origin } of origins) if (originSchema.safeParse(origin).success) asks.push(fetchAsk({ origin }, from));
  for (const access of ["get", "patch"] as const)
    if (uses.includes(`session.${access}`))
      asks.push({ key: `session:${access}`, from, words: SESSION[access], reason: undefined, grant: { session: access } });
  for (const name of env) if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) asks.push(envAsk(name, from));
  if (uses.includes("kv")) asks.push({ key: "kv", from, words: WORDS.kv, reason: undefined, grant: { kv: true } });
  if (has("fs", "fs/promises")) asks.push({ key: "fs", from, words: WORDS.fs, reason: undefined, grant: { fs: true } });
  if (uses.includes("schedule")) asks.push({ key: "schedule", from, words: WORDS.schedule, reason: undefined, grant: { schedule: true } });
  return asks;
}

function fetchAsk(rule: FetchRule, from: Ask["from"], reason?: string): Ask {
  const { origin, methods, pathPrefix } = rule;
  const sorted = methods?.toSorted();
  const key = `fetch:${origin}${pathPrefix ?? ""}${sorted ? `#${sorted.join(",")}` : ""}`;
  const words = `send ${sorted ? sorted.join(", ") : "any"} requests to ${origin}${pathPrefix ?? ""}`;
  const grant = { origin, ...(sorted && { methods: sorted }), ...(pathPrefix !== undefined && { pathPrefix }) };
  return { key, from, words, reason, grant: { fetch: grant } };
}

function envAsk(name: string, from: Ask["from"], reason?: string): Ask {
  return { key: `env:${name}`, from, words: `see the gateway's variable ${name}`, reason, grant: { env: name } };
}

function sized(maxBytes: number | undefined): true | { maxBytes: number } {
  return maxBytes === undefined ? true : { maxBytes };
}

function sizedKey(name: "kv" | "fs", maxBytes: number | undefined): string {
  return maxBytes === undefined ? name : `${name}:${maxBytes}`;
}

const PLAIN: Readonly<Record<string, AskGrant>> = {
  kv: { kv: true },
  fs: { fs: true },
  schedule: { schedule: true },
  clock: { clock: "fine" },
  wasm: { wasm: true },
  conversation: { conversation: true },
  prompt: { prompt: true },
  "session:get": { session: "get" },
  "session:patch": { session: "patch" },
};

/** What a key means, whoever wrote it; undefined: nothing. */
export function grantOf(key: string): AskGrant | undefined {
  if (Object.hasOwn(PLAIN, key)) return PLAIN[key];
  const [, kind, rest = ""] = /^(fetch|env|kv|fs):(.+)$/s.exec(key) ?? [];
  const [address = "", methods] = rest.split("#");
  const [, origin = "", path] = /^([a-z]+:\/\/[^/]+)(\/.*)?$/.exec(address) ?? [];
  const grants = {
    fetch: [{ origin, ...(path !== undefined && { pathPrefix: path }), ...(methods !== undefined && { methods: methods.split(",") }) }],
    env: [rest],
    kv: { maxBytes: Number(rest) },
    fs: { maxBytes: Number(rest) },
  };
  if (kind === undefined) return undefined;
  const name = kind as keyof typeof grants;
  const parsed = pluginGrants.safeParse({ [name]: grants[name] });
  if (!parsed.success) return undefined;
  if (name === "fetch") return { fetch: parsed.data.fetch![0] as FetchRule };
  return name === "env" ? { env: rest } : { [name]: parsed.data[name] };
}

/** What was accepted, as keys. */
export function keysOf({ grants, permissions }: Accepted): string[] {
  const { fetch = [], session = [], env = [], kv, fs, schedule, clock, wasm } = grants;
  const size = (grant: true | { maxBytes: number }): number | undefined => (grant === true ? undefined : grant.maxBytes);
  return [
    ...fetch.map((rule) => fetchAsk(typeof rule === "string" ? { origin: rule } : rule, "manifest").key),
    ...session.map((access) => `session:${access}`),
    ...env.map((name) => `env:${name}`),
    ...(kv ? [sizedKey("kv", size(kv))] : []),
    ...(fs ? [sizedKey("fs", size(fs))] : []),
    ...Object.entries({ schedule, clock, wasm }).flatMap(([key, grant]) => (grant === undefined ? [] : [key])),
    ...(permissions.allowConversationAccess === true ? ["conversation"] : []),
    ...(permissions.allowPromptInjection === false ? [] : ["prompt"]),
  ];
}

/** A hook of the catalog, or any of a family. */
export function definitionOf(key: string): AnyHook | undefined {
  const table: Readonly<Record<string, AnyHook>> = CATALOG;
  return table[key] ?? Object.values(table).find(({ name }) => familyOf(name) === key);
}

/** What a host is told once these were accepted. What is not among them is denied. */
export function acceptedOf(asks: readonly Pick<Ask, "grant">[]): Accepted {
  const grants: { -readonly [K in keyof Grants]: Grants[K] } = {};
  let hasConversation = false;
  let hasPrompt = false;
  for (const { grant } of asks) {
    if ("fetch" in grant) grants.fetch = [...(grants.fetch ?? []), grant.fetch];
    else if ("session" in grant) grants.session = [...(grants.session ?? []), grant.session];
    else if ("env" in grant) grants.env = [...(grants.env ?? []), grant.env];
    else if ("conversation" in grant) hasConversation = true;
    else if ("prompt" in grant) hasPrompt = true;
    else Object.assign(grants, grant);
  }
  return { grants, permissions: { allowConversationAccess: hasConversation, allowPromptInjection: hasPrompt } };
}

/** Is what the ask is for within what was accepted before? */
export function isCovered({ grant }: Pick<Ask, "grant">, { grants, permissions }: Accepted): boolean {
  if ("fetch" in grant)
    return (grants.fetch ?? []).some((given) => includes(typeof given === "string" ? { origin: given } : given, grant.fetch));
  if ("session" in grant) return grants.session?.includes(grant.session) ?? false;
  if ("env" in grant) return grants.env?.includes(grant.env) ?? false;
  if ("conversation" in grant) return permissions.allowConversationAccess === true;
  if ("prompt" in grant) return permissions.allowPromptInjection !== false;
  if ("kv" in grant) return isLarge(grants.kv, grant.kv);
  if ("fs" in grant) return isLarge(grants.fs, grant.fs);
  return Object.keys(grant).every((key) => grants[key as keyof Grants] !== undefined);
}

function includes(given: FetchRule, asked: FetchRule): boolean {
  if (given.origin !== asked.origin) return false;
  if (given.methods && !(asked.methods ?? []).every((method) => given.methods!.includes(method))) return false;
  if (given.methods && !asked.methods) return false;
  if (given.pathPrefix === undefined) return true;
  const [outer, inner] = [given.pathPrefix, asked.pathPrefix];
  return inner !== undefined && (inner === outer || inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`));
}

type Sized = true | { readonly maxBytes: number } | undefined;
function isLarge(given: Sized, asked: Sized): boolean {
  if (given === undefined) return false;
  if (given === true || asked === undefined) return true;
  return asked !== true && asked.maxBytes <= given.maxBytes;
}

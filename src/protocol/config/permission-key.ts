/**
 * A permission as everybody writes it: `kv`, `fetch:https://api.example.com/v1#GET`, `connect:db.example.com:5432`, `session:get`, `env:NAME`. An
 * author requests it in the manifest, an operator grants it in creel.json or with the command, a test and a gateway give it to a plugin. The host
 * keeps what a key means by kind (`pluginGrants`, and the keys that OpenClaw has for hooks).
 */
import * as z from "zod";
import type { FetchGrant } from "./fetch-grant.ts";
import type { Grants } from "./grants.ts";
import { pluginGrants } from "./grants.ts";

export type FetchRule = Exclude<FetchGrant, string>;
export type Sized = true | { readonly maxBytes: number };

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

const FORMS = `${Object.keys(PLAIN).join(", ")}, fetch:<origin>, connect:<host>:<port>, env:<NAME>`;

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
  const read = readKey(key);
  return typeof read === "string" ? undefined : read;
}

/** What is wrong with a key; undefined: nothing. */
export function permissionFault(key: string): string | undefined {
  const read = readKey(key);
  return typeof read === "string" ? read : undefined;
}

/** The permission, or what is wrong with the key. */
function readKey(key: string): Grant | string {
  if (Object.hasOwn(PLAIN, key)) return PLAIN[key as keyof typeof PLAIN];
  const [, name, rest = ""] = /^(fetch|connect|env|kv|fs):(.+)$/s.exec(key) ?? [];
  if (name === undefined) return `"${key}" is no permission: write one of ${FORMS}`;
  const { data, error } = pluginGrants.safeParse({ [name]: unchecked(name, rest) });
  if (!data) return faultIn(error) ?? `"${rest}" cannot be granted by ${name}`;
  const { fetch, connect, env, kv, fs } = data;
  if (fetch) return { fetch: fetch[0] as FetchRule };
  if (connect) return { connect: connect[0]! };
  if (env) return { env: env[0]! };
  return kv ? { kv } : { fs: fs! };
}

function unchecked(name: string, rest: string): unknown {
  if (name === "env" || name === "connect") return [rest];
  if (name !== "fetch") return { maxBytes: Number(rest) };
  const [address = "", methods] = rest.split("#");
  const [, origin = address, pathPrefix] = /^([a-z]+:\/\/[^/]+)(\/.*)?$/.exec(address) ?? [];
  return [{ origin, ...(pathPrefix !== undefined && { pathPrefix }), ...(methods !== undefined && { methods: methods.split(",") }) }];
}

/** The sentence that says what to write instead: unions keep those of their members below them. */
function faultIn(error: z.ZodError): string | undefined {
  const issues: z.core.$ZodIssue[] = [...error.issues];
  for (const issue of issues) {
    if (issue.code === "custom") return issue.message;
    if (issue.code === "invalid_union") issues.push(...issue.errors.flat());
  }
  return undefined;
}

const WITH_SECRET = /^(fetch:.+) with (\S+)$/s;

/** Of a gateway or an operator, who may also name a secret that the host sends along: `fetch:https://api.example.com with WEATHER`. */
function configGrantOf(key: string): Grant | string {
  const [, plain, secret] = WITH_SECRET.exec(key) ?? [];
  const read = readKey(plain ?? key);
  return typeof read === "object" && "fetch" in read && secret !== undefined ? { fetch: { ...read.fetch, secret } } : read;
}

export const permissionKeys = z.array(
  z.string().superRefine((text, context) => {
    const read = configGrantOf(text);
    if (typeof read === "string") context.addIssue({ code: "custom", message: read });
  }),
);

/** Grants as `permissions` would have them. */
export function configKeysOf(grants: Grants): string[] {
  return grantsIn(grants).map((grant) => {
    const secret = "fetch" in grant ? grant.fetch.secret : undefined;
    return secret === undefined ? permissionKey(grant) : `${permissionKey(grant)} with ${secret}`;
  });
}

export function grantsIn({ fetch = [], connect = [], session = [], env = [], kv, fs, schedule, clock, wasm }: Grants): Grant[] {
  return [
    ...fetch.map((rule) => ({ fetch: typeof rule === "string" ? { origin: rule } : rule })),
    ...connect.map((target) => ({ connect: target })),
    ...session.map((access) => ({ session: access })),
    ...env.map((name) => ({ env: name })),
    ...(kv ? [{ kv }] : []),
    ...(fs ? [{ fs }] : []),
    ...(schedule ? [{ schedule }] : []),
    ...(clock ? [{ clock }] : []),
    ...(wasm ? [{ wasm }] : []),
  ];
}

/** What permissions mean to the host, by kind. A kind that no permission names is absent. */
export interface ByKind {
  readonly grants: Grants;
  readonly hooks: {
    readonly allowConversationAccess?: true;
    readonly allowPromptInjection?: true;
    readonly allowInstallDecisions?: true;
  };
  readonly required?: true;
}

export function byKind(all: Iterable<Grant>): ByKind {
  const grants: { -readonly [K in keyof Grants]: Grants[K] } = {};
  const hooks: { -readonly [K in keyof ByKind["hooks"]]: true } = {};
  let isRequired = false;
  for (const grant of all)
    if ("fetch" in grant) grants.fetch = [...(grants.fetch ?? []), grant.fetch];
    else if ("connect" in grant) grants.connect = [...(grants.connect ?? []), grant.connect];
    else if ("session" in grant) grants.session = [...(grants.session ?? []), grant.session];
    else if ("env" in grant) grants.env = [...(grants.env ?? []), grant.env];
    else if ("conversation" in grant) hooks.allowConversationAccess = true;
    else if ("prompt" in grant) hooks.allowPromptInjection = true;
    else if ("install" in grant) hooks.allowInstallDecisions = true;
    else if ("required" in grant) isRequired = true;
    else Object.assign(grants, grant);
  return { grants, hooks, ...(isRequired && { required: true }) };
}

/** Settings of a plugin in either form: `permissions`, and the older `grants` with OpenClaw's keys of `hooks`. */
interface Settings<H> {
  readonly permissions?: readonly string[] | undefined;
  readonly grants?: Grants | undefined;
  readonly hooks?: H | undefined;
  readonly required?: boolean | undefined;
}

/** The same with what `permissions` says laid over the rest, kind by kind. The keys were checked by `permissionKeys`. */
export function settled<H extends object, S extends Settings<H>>(settings: S): S {
  const { permissions } = settings;
  if (!permissions || permissions.length === 0) return settings;
  const { grants, hooks, required } = byKind(permissions.map(configGrantOf).filter((one) => typeof one === "object"));
  return {
    ...settings,
    grants: { ...settings.grants, ...grants },
    ...(Object.keys(hooks).length > 0 && { hooks: { ...settings.hooks, ...hooks } }),
    ...(required && { required }),
  };
}

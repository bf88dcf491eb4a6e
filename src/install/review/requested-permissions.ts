/**
 * Trusted side: the permissions a plugin would get: those its manifest requests, those its hooks need, and, for
 * packages without such a list, those its code seems to need.
 */
import type { Builtin, BundleScan } from "../../bundler/messages.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { PluginManifest } from "../../protocol/config/config.ts";
import { CATALOG, familyOf } from "../../protocol/catalog.ts";
import { origin as originSchema } from "../../protocol/config/fetch-grant.ts";
import { riskRank } from "../../protocol/config/permission-table.ts";
import type { RequestedPermissions } from "../../protocol/config/permissions.ts";
import { permissionKey } from "../../protocol/config/permission-key.ts";
import { wordsOf } from "./permission-keys.ts";
import type { Grant } from "../../protocol/config/permission-key.ts";

export interface RequestedPermission {
  readonly key: string;
  /**
   * `manifest`: the author requests it. `hooks`: a hook it registers needs it. `scan`: not requested, but its code
   * seems to need it.
   */
  readonly from: "manifest" | "hooks" | "scan";
  /** What the plugin could do with it. */
  readonly words: string;
  /** The author's. */
  readonly reason: string | undefined;
  readonly grant: Grant;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `hooks` are the names that it registered. */
export function requestedPermissionsOf(
  { permissions, required }: Pick<PluginManifest, "permissions" | "required">,
  hooks: readonly string[],
  scan: BundleScan,
  builtins: readonly Builtin[],
): RequestedPermission[] {
  const requested = [
    ...(permissions ? stated(permissions) : []),
    ...(required === true ? [request({ required: true }, "manifest")] : []),
    ...needed(hooks),
    ...(permissions ? [] : candidates(scan, builtins).map((grant) => request(grant, "scan"))),
  ];
  return requested.filter(({ key }, at) => requested.findIndex((other) => other.key === key) === at).toSorted(byRisk);
}

/**
 * For authors: what the code seems to need, and the manifest does not request. It compares kinds, and origins of fetch:
 * how much of each is the author's decision.
 */
export function unrequestedPermissionsOf(
  { permissions = {} }: Pick<PluginManifest, "permissions">,
  scan: BundleScan,
  builtins: readonly Builtin[],
): RequestedPermission[] {
  const stem = ({ grant, key }: RequestedPermission): string =>
    "fetch" in grant
      ? `fetch:${grant.fetch.origin}`
      : "env" in grant || "session" in grant || "connect" in grant
        ? key
        : Object.keys(grant)[0]!;
  const asked = new Set(stated(permissions).map(stem));
  return candidates(scan, builtins)
    .map((grant) => request(grant, "scan"))
    .filter((one) => !asked.has(stem(one)));
}

/** Requested permissions before candidates of the scan; the riskiest first. */
function byRisk(one: RequestedPermission, other: RequestedPermission): number {
  return Number(one.from === "scan") - Number(other.from === "scan") || riskRank(one.key) - riskRank(other.key);
}

function request(grant: Grant, from: RequestedPermission["from"], reason?: string): RequestedPermission {
  return { key: permissionKey(grant), from, words: wordsOf(grant), reason, grant };
}

const size = (maxBytes: number | undefined) => (maxBytes === undefined ? true : { maxBytes });

/** What a manifest requests. */
export function stated({
  fetch = [],
  connect = [],
  kv,
  session = [],
  env = [],
  fs,
  schedule,
  clock,
  wasm,
  conversation,
  install,
}: RequestedPermissions): RequestedPermission[] {
  const from = "manifest";
  return [
    ...fetch.map(({ reason, ...rule }) => request({ fetch: rule }, from, reason)),
    ...connect.map(({ target, reason }) => request({ connect: target }, from, reason)),
    ...session.map(({ access, reason }) => request({ session: access }, from, reason)),
    ...env.map(({ name, reason }) => request({ env: name }, from, reason)),
    ...(kv ? [request({ kv: size(kv.maxBytes) }, from, kv.reason)] : []),
    ...(fs ? [request({ fs: size(fs.maxBytes) }, from, fs.reason)] : []),
    ...(schedule ? [request({ schedule: true }, from, schedule.reason)] : []),
    ...(clock ? [request({ clock: "fine" }, from, clock.reason)] : []),
    ...(wasm ? [request({ wasm: true }, from, wasm.reason)] : []),
    ...(conversation ? [request({ conversation: true }, from, conversation.reason)] : []),
    ...(install ? [request({ install: true }, from, install.reason)] : []),
  ];
}

function needed(names: readonly string[]): RequestedPermission[] {
  const hooks = names.flatMap((name) => definitionOf(name) ?? []);
  return [
    ...(hooks.some(({ permission }) => permission.includes("conversation")) ? [request({ conversation: true }, "hooks")] : []),
    ...(hooks.some(({ permission, promptFields }) => permission.includes("prompt") || promptFields)
      ? [request({ prompt: true }, "hooks")]
      : []),
    ...(hooks.some(({ permission }) => permission.includes("install")) ? [request({ install: true }, "hooks")] : []),
  ];
}

/** Candidates for packages that cannot request permissions, from their code. A candidate is granted only by name. */
function candidates({ origins, env, uses }: BundleScan, builtins: readonly Builtin[]): Grant[] {
  const has = (...names: string[]): boolean => builtins.some(({ name }) => names.includes(name));
  const sends = uses.includes("fetch") || has("http", "https");
  return [
    ...(sends ? origins.filter(({ origin }) => originSchema.safeParse(origin).success).map(({ origin }) => ({ fetch: { origin } })) : []),
    ...(["get", "patch"] as const).filter((access) => uses.includes(`session.${access}`)).map((access) => ({ session: access })),
    ...env.filter((name) => NAME.test(name)).map((name) => ({ env: name })),
    ...(uses.includes("kv") ? [{ kv: true } as const] : []),
    ...(has("fs", "fs/promises") ? [{ fs: true } as const] : []),
    ...(uses.includes("schedule") ? [{ schedule: true } as const] : []),
  ];
}

/** A hook of the catalog, or any of a family. */
export function definitionOf(key: string): AnyHook | undefined {
  const table: Readonly<Record<string, AnyHook>> = CATALOG;
  return table[key] ?? Object.values(table).find(({ name }) => familyOf(name) === key);
}

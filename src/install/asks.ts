/** Trusted side: what a plugin would be granted: what its manifest asks for, what its hooks need, and, for packages that state nothing, what their code seems to need. */
import type { Builtin, BundleScan } from "../host/bundler-message.ts";
import type { AnyHook } from "../protocol/catalog.ts";
import { CATALOG, familyOf } from "../protocol/catalog.ts";
import { origin as originSchema } from "../protocol/fetch-grant.ts";
import { riskRank } from "../protocol/permission-table.ts";
import type { RequestedPermissions } from "../protocol/permissions.ts";
import { keyOf, wordsOf } from "./keys.ts";
import type { Grant } from "./keys.ts";

export interface Ask {
  readonly key: string;
  /** `manifest`: the author asks for it. `hooks`: a hook it registers needs it. `scan`: nobody asks; its code looks as if it needed it. */
  readonly from: "manifest" | "hooks" | "scan";
  /** What it could do then. */
  readonly words: string;
  /** The author's. */
  readonly reason: string | undefined;
  readonly grant: Grant;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `hooks` are the names that it registered. */
export function asksOf(
  permissions: RequestedPermissions | undefined,
  hooks: readonly string[],
  scan: BundleScan,
  builtins: readonly Builtin[],
): Ask[] {
  const asks = [
    ...(permissions ? stated(permissions) : []),
    ...needed(hooks),
    ...(permissions ? [] : candidates(scan, builtins).map((grant) => ask(grant, "scan"))),
  ];
  return asks.filter(({ key }, at) => asks.findIndex((other) => other.key === key) === at).toSorted(byRisk);
}

/** What is asked for before what nobody asked for; the riskiest first. */
function byRisk(one: Ask, other: Ask): number {
  return Number(one.from === "scan") - Number(other.from === "scan") || riskRank(one.key) - riskRank(other.key);
}

function ask(grant: Grant, from: Ask["from"], reason?: string): Ask {
  return { key: keyOf(grant), from, words: wordsOf(grant), reason, grant };
}

const size = (maxBytes: number | undefined) => (maxBytes === undefined ? true : { maxBytes });

function stated({ fetch = [], kv, session = [], env = [], fs, schedule, clock, wasm, conversation }: RequestedPermissions): Ask[] {
  const from = "manifest";
  return [
    ...fetch.map(({ reason, ...rule }) => ask({ fetch: rule }, from, reason)),
    ...session.map(({ access, reason }) => ask({ session: access }, from, reason)),
    ...env.map(({ name, reason }) => ask({ env: name }, from, reason)),
    ...(kv ? [ask({ kv: size(kv.maxBytes) }, from, kv.reason)] : []),
    ...(fs ? [ask({ fs: size(fs.maxBytes) }, from, fs.reason)] : []),
    ...(schedule ? [ask({ schedule: true }, from, schedule.reason)] : []),
    ...(clock ? [ask({ clock: "fine" }, from, clock.reason)] : []),
    ...(wasm ? [ask({ wasm: true }, from, wasm.reason)] : []),
    ...(conversation ? [ask({ conversation: true }, from, conversation.reason)] : []),
  ];
}

function needed(names: readonly string[]): Ask[] {
  const hooks = names.flatMap((name) => definitionOf(name) ?? []);
  return [
    ...(hooks.some(({ permission }) => permission.includes("conversation")) ? [ask({ conversation: true }, "hooks")] : []),
    ...(hooks.some(({ permission, promptFields }) => permission.includes("prompt") || promptFields)
      ? [ask({ prompt: true }, "hooks")]
      : []),
  ];
}

/** Whoever has no way to ask may be offered what their code shows. It may never use it: a candidate is granted only by name. */
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

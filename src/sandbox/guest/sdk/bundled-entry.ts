/**
 * Inside the isolate: entries of `openclaw/plugin-sdk/channel-entry-contract`, whose parts are named by their files and
 * loaded when they are needed. The bundler puts a part's loader beside its name. They follow OpenClaw 2026.9.6.
 */
import { PART_KEY } from "../../../protocol/guest-surface/part.ts";
import { defineChannelPluginEntry } from "./helpers.ts";
import type { ChannelEntry } from "./helpers.ts";

const PART = Symbol.for(PART_KEY);

interface Part {
  readonly specifier: string;
  readonly exportName?: string;
  readonly [PART]?: () => unknown;
}

type Load = () => unknown;

/** What the part exports by that name, of its default export if it has one; without a name, all of it. */
export function loadBundledEntryExportSync(importMetaUrl: string, { specifier, exportName, [PART]: load }: Part): unknown {
  if (!load) {
    const why = "inside the sandbox it must be a literal, and the name of a file beside or below the one that names it";
    throw new Error(`bundled plugin entry "${specifier}" failed to open from "${new URL(importMetaUrl).pathname}": ${why}`);
  }
  const loaded = load();
  const found = isObject(loaded) && "default" in loaded ? loaded.default : loaded;
  if (exportName === undefined || exportName === "") return found;
  const record = (found ?? loaded) as Record<string, unknown>;
  if (!(exportName in record)) throw new Error(`missing export "${exportName}" from bundled entry module ${specifier}`);
  return record[exportName];
}

interface BundledEntry extends Omit<ChannelEntry, "plugin" | "setRuntime"> {
  readonly importMetaUrl: string;
  readonly plugin: Part;
  readonly outbound?: Part;
  readonly secrets?: Part;
  readonly runtime?: Part;
  readonly accountInspect?: Part;
}

/**
 * A channel has no place in a sandbox, so that its part is loaded by nobody but the plugin. The part that keeps the
 * runtime is loaded if there is anything beside the channel, which may ask it; often it is the channel's own file.
 */
export function defineBundledChannelEntry(entry: BundledEntry): object {
  const { importMetaUrl, plugin, outbound, secrets, runtime, accountInspect, configSchema, features, ...others } = entry;
  const setRuntime = runtime && setterOf(importMetaUrl, runtime);
  const isMore = Boolean(entry.registerFull ?? entry.registerCapabilities ?? entry.registerCliMetadata);
  const own = defineChannelPluginEntry({
    ...others,
    configSchema: typeof configSchema === "function" ? (configSchema as Load)() : configSchema,
    ...(setRuntime && isMore && { setRuntime }),
  });
  return {
    ...own,
    kind: "bundled-channel-entry",
    ...((features || accountInspect) && { features: { ...(features as object), ...(accountInspect && { accountInspect: true }) } }),
    ...loaders(importMetaUrl, {
      loadChannelPlugin: plugin,
      loadChannelOutbound: outbound,
      loadChannelSecrets: secrets,
      loadChannelAccountInspector: accountInspect,
    }),
    ...(setRuntime && { setChannelRuntime: setRuntime }),
  };
}

interface BundledSetupEntry {
  readonly importMetaUrl: string;
  readonly plugin: Part;
  readonly secrets?: Part;
  readonly runtime?: Part;
  readonly legacyStateMigrations?: Part;
  readonly legacySessionSurface?: Part;
  readonly registerSetupRuntime?: unknown;
  readonly features?: unknown;
}

export function defineBundledChannelSetupEntry(entry: BundledSetupEntry): object {
  const { importMetaUrl, plugin, secrets, runtime, legacyStateMigrations, legacySessionSurface, registerSetupRuntime, features } = entry;
  return {
    kind: "bundled-channel-setup-entry",
    ...loaders(importMetaUrl, {
      loadSetupPlugin: plugin,
      loadSetupSecrets: secrets,
      loadLegacyStateMigrationDetector: legacyStateMigrations,
      loadLegacySessionSurface: legacySessionSurface,
    }),
    ...(runtime && { setChannelRuntime: setterOf(importMetaUrl, runtime) }),
    ...(registerSetupRuntime !== undefined && { registerSetupRuntime }),
    ...(features !== undefined && { features }),
  };
}

function setterOf(importMetaUrl: string, part: Part): (runtime: unknown) => void {
  return (runtime) => (loadBundledEntryExportSync(importMetaUrl, part) as (runtime: unknown) => void)(runtime);
}

function loaders(importMetaUrl: string, parts: Readonly<Record<string, Part | undefined>>): Record<string, Load> {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, part]) => (part ? [[name, () => loadBundledEntryExportSync(importMetaUrl, part)]] : [])),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

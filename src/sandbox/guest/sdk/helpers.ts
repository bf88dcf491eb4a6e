/**
 * Inside the isolate: helpers of `openclaw/plugin-sdk` that real plugins call and that need no gateway: results of
 * tools, entries, schemas, and a plugin's own configuration. They follow OpenClaw 2026.9.6.
 */

type Fields = Record<string, unknown>;
type Api = Record<string, (...args: unknown[]) => unknown> & { pluginConfig?: Fields; registrationMode?: string };

export function textResult(text: string, details?: unknown): object {
  return { content: [{ type: "text", text }], details };
}

/** A tool's answer with data in it: as text for the model, and as it is for programs. */
export function jsonResult(payload: unknown): object {
  return textResult(JSON.stringify(payload, null, 2), payload);
}

interface ToolDefinition extends Fields {
  name: string;
  label?: string;
  optional?: boolean;
  execute?: (params: unknown, config: Fields, context: Fields) => unknown;
  factory?: (context: Fields) => unknown;
}

interface ToolPlugin extends Fields {
  tools: (tool: (definition: ToolDefinition) => ToolDefinition) => Iterable<ToolDefinition>;
  configSchema?: unknown;
}

/** A plugin that is nothing but tools. */
export function defineToolPlugin({ id, name, description, configSchema, tools }: ToolPlugin): object {
  const made = [...tools((definition) => ({ ...definition, label: definition.label ?? definition.name }))];
  const register = (api: Api): void => {
    const config = api.pluginConfig ?? {};
    for (const { factory, execute, ...about } of made) {
      const options = { name: about.name, ...(about.optional && { optional: true }) };
      if (factory) {
        api.registerTool!((toolContext: unknown) => factory({ api, config, toolContext }), options);
        continue;
      }
      if (!execute) throw new Error(`tool plugin tool ${about.name} must define execute or factory`);
      const run = async (toolCallId: unknown, params: unknown, signal: unknown, onUpdate: unknown): Promise<object> => {
        const result = await execute(params, config, { api, signal, toolCallId, onUpdate });
        return typeof result === "string" ? textResult(result, result) : jsonResult(result);
      };
      api.registerTool!({ ...about, execute: run }, options);
    }
  };
  return { id, name, description, configSchema: { jsonSchema: configSchema ?? { type: "object", properties: {} } }, register };
}

export interface ChannelEntry extends Fields {
  plugin?: unknown;
  setRuntime?: ((runtime: unknown) => void) | undefined;
  registerCliMetadata?(api: Api): void;
  registerFull?(api: Api): void;
  registerCapabilities?(api: Api): void;
}

/** The channel itself has no place in a sandbox, and is reported; its hooks and tools work. */
export function defineChannelPluginEntry(entry: ChannelEntry): object {
  const { id, name, description, plugin, configSchema, setRuntime } = entry;
  const register = (api: Api): void => {
    api.registerChannel!({ plugin });
    setRuntime?.(api.runtime);
    entry.registerCliMetadata?.(api);
    entry.registerFull?.(api);
    entry.registerCapabilities?.(api);
  };
  return { id, name, description, configSchema, register, channelPlugin: plugin };
}

/** Keeps `api.runtime` for files of a plugin that do not get `api`. */
export function createPluginRuntimeStore(options: unknown): object {
  const { errorMessage } = (typeof options === "string" ? { errorMessage: options } : (options ?? {})) as { errorMessage?: string };
  let kept: unknown = null;
  return {
    setRuntime: (runtime: unknown): void => void (kept = runtime),
    clearRuntime: (): void => void (kept = null),
    tryGetRuntime: (): unknown => kept,
    getRuntime: (): unknown => {
      if (kept === null) throw new Error(errorMessage ?? "the plugin's runtime is not set yet");
      return kept;
    },
  };
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function resolvePluginConfigObject(config: unknown, pluginId: string): Fields | undefined {
  const { plugins } = (config ?? {}) as { plugins?: { entries?: Record<string, { config?: unknown } | undefined> } };
  const found = plugins?.entries?.[pluginId]?.config;
  return isRecord(found) ? found : undefined;
}

export function resolveLivePluginConfigObject(load: unknown, pluginId: string, atStart: unknown): unknown {
  return typeof load === "function" ? resolvePluginConfigObject((load as () => unknown)(), pluginId) : atStart;
}

export function requireRuntimeConfig<T>(config: T, context: string): T {
  if (!config) throw new Error(`${context} requires a resolved runtime config`);
  return config;
}

/** A flat `enum`, which models' providers understand better than a union. */
export function stringEnum(values: unknown, options: Fields = {}): Fields {
  const names = (Array.isArray(values) ? values : Object.values((values ?? {}) as Fields)).filter((value) => typeof value === "string");
  return { type: "string", ...(names.length > 0 && { enum: names }), ...options };
}

/** Marked as optional for TypeBox, in its old and its new way. */
export function optionalStringEnum(values: unknown, options?: Fields): Fields {
  const schema = stringEnum(values, options);
  for (const [key, value] of [
    [Symbol.for("TypeBox.Optional"), "Optional"],
    ["~optional", true],
  ] as const)
    Object.defineProperty(schema, key, { value, enumerable: typeof key === "symbol" });
  return schema;
}

export const DEFAULT_ACCOUNT_ID = "default";

export function normalizeAccountId(value: unknown): string {
  const plain = (typeof value === "string" ? value : "")
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-");
  return plain.replaceAll(/^-+|-+$/g, "").slice(0, 64) || DEFAULT_ACCOUNT_ID;
}

interface Channel extends Fields {
  accounts?: Record<string, Fields>;
  defaultAccount?: unknown;
}

/** The accounts of a channel in the operator's configuration. */
export function createAccountListHelpers(channelKey: string): object {
  const channelOf = (config: unknown): Channel =>
    ((config as { channels?: Record<string, Channel> } | undefined)?.channels ?? {})[channelKey] ?? {};
  const listConfiguredAccountIds = (config: unknown): string[] => Object.keys(channelOf(config).accounts ?? {}).filter(Boolean);
  const listAccountIds = (config: unknown): string[] => {
    const ids = listConfiguredAccountIds(config).toSorted();
    return ids.length > 0 ? ids : [DEFAULT_ACCOUNT_ID];
  };
  const resolveDefaultAccountId = (config: unknown): string => {
    const ids = listAccountIds(config);
    const { defaultAccount } = channelOf(config);
    const wanted = typeof defaultAccount === "string" ? normalizeAccountId(defaultAccount) : DEFAULT_ACCOUNT_ID;
    return ids.includes(wanted) ? wanted : ids[0]!;
  };
  const resolveAccountConfig = (config: unknown, accountId: string): Fields => {
    const { accounts, ...common } = channelOf(config);
    return { ...common, ...accounts?.[accountId] };
  };
  return { listConfiguredAccountIds, listAccountIds, resolveDefaultAccountId, resolveAccountConfig };
}

/**
 * Inside the isolate: `openclaw/plugin-sdk` and every path below it. Most imports from there are types, which the
 * bundler erases; a few helpers remain. A name that does not exist here is a function that throws when it is used, and
 * not before: plugins import names that they use only in places which a hook host never reaches.
 */
import { log } from "../api/api.ts";
import * as bundled from "./bundled-entry.ts";
import * as channel from "./channel.ts";
import * as helpers from "./helpers.ts";
import { missing } from "./missing.ts";

interface ConfigSchema {
  safeParse?(value: unknown): unknown;
  jsonSchema?: unknown;
}

/** Gives its argument back. */
function definePluginEntry<T>(entry: T): T {
  return entry;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0);
}

function emptyPluginConfigSchema(): ConfigSchema {
  return {
    safeParse: (value: unknown) =>
      isEmpty(value)
        ? { success: true, data: value }
        : { success: false, error: { issues: [{ path: [], message: "expected an empty configuration" }] } },
    jsonSchema: { type: "object", additionalProperties: false, properties: {} },
  };
}

function buildPluginConfigSchema(schema: { safeParse?(value: unknown): unknown }, options: { jsonSchema?: unknown } = {}): ConfigSchema {
  return { safeParse: (value) => schema.safeParse?.(value), jsonSchema: options.jsonSchema ?? { type: "object" } };
}

function buildJsonPluginConfigSchema(jsonSchema: unknown): ConfigSchema {
  return { jsonSchema };
}

type Line = (...values: unknown[]) => void;

interface SubsystemLogger extends Record<"trace" | "debug" | "info" | "warn" | "error" | "fatal" | "raw", Line> {
  readonly subsystem: string;
  isEnabled(): boolean;
  child(name: string): SubsystemLogger;
}

/** Writes to the plugin's log, with the name before every line. */
function createSubsystemLogger(subsystem: string): SubsystemLogger {
  const to =
    (level: string): Line =>
    (...values) =>
      log[level]!(`[${subsystem}]`, ...values);
  return {
    subsystem,
    isEnabled: () => true,
    trace: to("debug"),
    debug: to("debug"),
    info: to("info"),
    warn: to("warn"),
    error: to("error"),
    fatal: to("error"),
    raw: to("info"),
    child: (name) => createSubsystemLogger(`${subsystem}/${name}`),
  };
}

/** The prototype of the exports. The bundler keeps it when it makes a module of them. */
const others = new Proxy(
  {},
  {
    get: (_, key, receiver) =>
      typeof key === "string" && key !== "then" && key !== "toJSON" ? missing(key) : Reflect.get({}, key, receiver),
  },
);

const sdk: Record<string, unknown> = Object.create(others) as Record<string, unknown>;
Object.defineProperty(sdk, "__esModule", { value: true });

export default Object.assign(sdk, {
  definePluginEntry,
  definePlugin: definePluginEntry,
  defineSetupPluginEntry: (plugin: unknown) => ({ plugin }),
  emptyPluginConfigSchema,
  buildPluginConfigSchema,
  buildJsonPluginConfigSchema,
  createSubsystemLogger,
  ...helpers,
  ...channel,
  ...bundled,
});

/**
 * Inside the isolate: `openclaw/plugin-sdk`, and every path below it. Most of what plugins import from there is types, which the bundler
 * erases; what remains is a few helpers. A name that is not here is a function that says so when it is used, and not before: plugins
 * import much that they use in one place which a hook host never reaches.
 */
import { log } from "../api.ts";

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

/** A tool's answer with data in it, as text for the model and as it is for programs. */
function jsonResult(payload: unknown): object {
  return { content: [{ type: "text", text: JSON.stringify(payload, null, 2) }], details: payload };
}

const made = new Map<string, unknown>();

function missing(name: string): unknown {
  const known = made.get(name);
  if (known) return known;
  const refuse = (): never => {
    throw new Error(`"${name}" of openclaw/plugin-sdk is not there in the sandbox: what it does needs a whole gateway around it`);
  };
  // An ordinary function, so that a class may extend it; it fails when one is made.
  const absent = function absent(): never {
    return refuse();
  };
  Object.assign(absent, { toString: refuse, valueOf: refuse, [Symbol.toPrimitive]: refuse });
  made.set(name, absent);
  return absent;
}

/** The prototype of the exports: the bundler keeps it where it makes a module of them. */
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
  jsonResult,
});

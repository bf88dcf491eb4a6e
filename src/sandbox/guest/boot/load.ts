/**
 * Inside the isolate: evaluates a plugin's bundle, calls its `register`, and tells the host what the plugin declared.
 */
import { createApi } from "../api/api.ts";
import { declared, endRegistration } from "../api/declared.ts";
import { unknownMembers } from "../api/members.ts";
import { settle } from "../turn/mailbox.ts";
import type { Returned } from "../turn/mailbox.ts";
import { bootstrapError } from "./describe.ts";
import { moduleNamed, part } from "./library.ts";
import { bare, call, stringify } from "./primordials.ts";

/** A bundle, as the bundler wraps it. */
export type Factory = (exports: object, module: { exports: unknown }, require: (name: string) => unknown) => void;

interface Exported {
  register?: unknown;
  activate?: unknown;
  id?: unknown;
  name?: unknown;
  version?: unknown;
}

/** Gives a registration's JSON, see protocol/rules/registration.ts. */
export function register(factory: Factory, facts: Record<string, unknown>): Returned {
  const module = { exports: {} as unknown };
  factory(module.exports as object, module, requireModule);
  const plugin = pluginOf(module.exports);
  const isFunction = typeof plugin === "function";
  const run = isFunction ? plugin : (plugin.register ?? plugin.activate);
  if (typeof run !== "function") {
    throw bootstrapError(
      "ERR_PLUGIN_EXPORT",
      `the plugin's default export is ${run === undefined ? "neither a function nor an object with register" : `an object whose register is a ${typeof run}`}`,
    );
  }
  const api = createApi(facts);
  return settle(call(run as () => unknown, isFunction ? undefined : plugin, [api]), 0, () => {
    endRegistration();
    const named: Exported = isFunction ? bare({}) : plugin;
    return stringify(
      bare({ id: text(named.id), name: text(named.name), version: text(named.version), handlers: declared, unknownMembers }),
    );
  });
}

/** The default export, or the module. A CommonJS build that a module imports has its default inside of another. */
function pluginOf(exports: unknown): Exported {
  let plugin = exports as Exported & { default?: unknown };
  for (let depth = 0; depth < 3; depth++) {
    if (typeof plugin !== "object" || (plugin.default ?? undefined) === undefined) break;
    if (depth > 0 && (plugin.register ?? plugin.activate) !== undefined) break;
    plugin = plugin.default as Exported & object;
  }
  return plugin;
}

/** For imports that the bundler left in the bundle. */
function requireModule(name: string): unknown {
  const found = moduleNamed(name);
  if (!found)
    throw bootstrapError("ERR_PLUGIN_MODULE", (part("node/absent") as { absentSentence(name: string): string }).absentSentence(name));
  return found.exports;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

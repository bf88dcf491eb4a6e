/** docs/reference/config.md and docs/reference/creel.schema.json: the keys of creel.json, from their zod schema. */
import { creelConfig, pluginManifest } from "../src/protocol/config/config.ts";
import { CATALOG } from "../src/protocol/catalog.ts";
import type { AnyHook } from "../src/protocol/catalog.ts";
import { grantOf } from "../src/protocol/config/permission-key.ts";
import { PERMISSION_NAMES, PERMISSION_TABLE } from "../src/protocol/config/permission-table.ts";
import type { PermissionAbout } from "../src/protocol/config/permission-table.ts";
import { jsonSchema, typeOf, variantsOf } from "../src/protocol/rules/json-schema.ts";
import type { JsonSchema } from "../src/protocol/rules/json-schema.ts";
import { hookWords } from "./field-docs.ts";
import { code, fence, MADE, page, table } from "./markdown.ts";

/** What stands for the names that the operator gives, by the key above them. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  "plugins.entries": "<id>",
  "hooks.internal.entries": "<hookKey>",
  secrets: "<NAME>",
};
const OF_HOOKS = /(?:timeouts|budgets|failure)$/;

interface Row {
  readonly path: string;
  readonly schema: JsonSchema;
  /** Its own keys are those of this one, which stands above. */
  readonly as?: string;
}

/** Every key below a schema, opened as `plugins.entries.<id>.enabled` and `hooks.agent.beforeTurn[].script`. `opened` has where each kind of object was. */
function rowsOf(schema: JsonSchema, path: string, opened = new Map<string, string>()): Row[] {
  return variantsOf(schema).flatMap((variant) => {
    if (variant.type === "array") return rowsOf(variant.items as JsonSchema, `${path}[]`, opened);
    if (variant.type !== "object") return [];
    const named = Object.entries(variant.properties ?? {}).flatMap(([name, field]) => {
      const below = path === "" ? name : `${path}.${name}`;
      const kind = kindOf(field as JsonSchema);
      const as = kind === undefined ? undefined : opened.get(kind);
      if (as !== undefined) return [{ path: below, schema: field as JsonSchema, as }];
      if (kind !== undefined) opened.set(kind, below);
      return [{ path: below, schema: field as JsonSchema }, ...rowsOf(field as JsonSchema, below, opened)];
    });
    const others = variant.additionalProperties;
    if (typeof others !== "object" || !isOpened(others)) return named;
    return [...named, ...rowsOf(others, `${path}.${placeholder(path)}`, opened)];
  });
}

/** Of what has several keys of its own: the same text for the same keys. */
function kindOf(schema: JsonSchema): string | undefined {
  const { properties = {} } = (schema.items ?? schema) as JsonSchema;
  return Object.keys(properties).length > 3 ? JSON.stringify(properties) : undefined;
}

const isOpened = (schema: JsonSchema): boolean => variantsOf(schema).some(({ properties }) => properties !== undefined);

const placeholder = (path: string): string => PLACEHOLDERS[path] ?? (OF_HOOKS.test(path) ? "<hook>" : "<name>");

function rangeOf({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  const least = minimum ?? (exclusiveMinimum === undefined ? undefined : `more than ${exclusiveMinimum}`);
  // Whole numbers have bounds of their own, which say nothing.
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (least === undefined && most === undefined) return "";
  if (most === undefined) return ` (${typeof least === "number" ? `at least ${least}` : least})`;
  return typeof least === "number" ? ` (${least} to ${most})` : ` (up to ${most})`;
}

const EXAMPLE = `// creel.json
{
  "$schema": "./node_modules/creel/docs/reference/creel.schema.json",
  "stateDir": ".creel",
  "plugins": {
    "load": { "paths": ["./plugins/no-rm"] },
    "entries": {
      "weather": {
        "config": { "town": "Ulm" },
        "hooks": { "timeoutMs": 2000 },
        "permissions": ["fetch:https://api.example.com#GET with WEATHER"],
        "limits": { "heapMb": 16 },
      },
    },
  },
  "secrets": {
    "WEATHER": { "origins": ["https://api.example.com"], "env": "WEATHER_KEY", "header": "authorization", "format": "Bearer {secret}" },
  },
  "sandbox": { "walls": "required" },
}`;

export const configExample = (): string => EXAMPLE;

export function configPage(): string {
  const rows = rowsOf(jsonSchema(creelConfig), "").map(({ path, schema, as }) => [
    code(path),
    `${code(typeOf(schema))}${rangeOf(schema)}`,
    schema.default === undefined ? "" : code(JSON.stringify(schema.default)),
    `${schema.openclaw === true ? "**OpenClaw** " : ""}${schema.description ?? ""}${as === undefined ? "" : ` Keys as in ${code(as)}.`}`,
  ]);
  return page(
    MADE,
    "# creel.json",
    "Every key of a `creel.json`, made from the schema it is checked with. None has to be there. Comments and trailing commas are fine; a key that is there twice is an error. Keys marked **OpenClaw** are OpenClaw's own, with " +
      "its meaning, so that a block of an `openclaw.json` can be pasted; what Creel does not know of such a block is left alone. Where a misspelt key would take something away from you (`permissions`, `limits`, `sandbox`, `secrets`, turn hooks) unknown keys are refused.",
    "`creel doctor --config creel.json` checks one. Editors complete and check it by [creel.schema.json](creel.schema.json): name it as `$schema`.",
    fence("jsonc", EXAMPLE),
    table(["key", "type", "default", "meaning"], rows),
  );
}

/** For editors: without the marks that are for the page. */
export function configSchema(): string {
  const schema = { title: "creel.json", ...jsonSchema(creelConfig) };
  return `${JSON.stringify(schema, (name, value: unknown) => (name === "openclaw" ? undefined : value), 2)}\n`;
}

/** What an editor shows of the other keys of a creel.plugin.json. */
const MANIFEST_WORDS: Readonly<Record<string, string>> = {
  id: "The plugin's name for hosts: how creel.json, logs and commands call it.",
  name: "The plugin's name for people.",
  version: "The plugin's version. package.json has it instead, if it is not here.",
  description: "One line about what the plugin does, which an operator reads before the installation.",
  main: "The file that the bundle begins with.",
  contracts: "What it declares to add to a gateway: a host refuses tools that `contracts.tools` does not name.",
  required: "The plugin requests that all its hooks fail closed. It takes effect once the operator has accepted it.",
};

/** For editors of a creel.plugin.json. A hook that is not in the catalog may be the gateway's own. */
export function manifestSchema(): string {
  const schema = jsonSchema(pluginManifest);
  const listed = schema.properties!.hooks as JsonSchema;
  const hooks = {
    ...listed,
    description: "The hooks it listens to. If its code does not load, they stay shut or are reported as missing.",
    items: {
      anyOf: [...Object.values<AnyHook>(CATALOG).map((hook) => ({ const: hook.name, description: hookWords(hook) })), listed.items],
    },
  };
  const older = schema.properties!.permissions as JsonSchema;
  const reason = { type: "string", minLength: 1, maxLength: 300, description: "Why the plugin needs it, for the operator to read." };
  const plain = PERMISSION_NAMES.filter((name) => (PERMISSION_TABLE[name] as PermissionAbout).isAsked && grantOf(name) !== undefined);
  const permissions = {
    description: "The permissions it requests, by key, each with its reason. `creel help permissions` says how they are written.",
    anyOf: [
      {
        type: "object",
        properties: Object.fromEntries(plain.map((name) => [name, { ...reason, description: PERMISSION_TABLE[name].lets }])),
        patternProperties: { "^(?:fetch|connect|env|kv|fs):.+$": reason },
        additionalProperties: false,
      },
      { ...older, description: "The older form, by kind." },
    ],
  };
  const told = Object.entries(schema.properties!).map(([name, field]) => [
    name,
    { ...(MANIFEST_WORDS[name] !== undefined && { description: MANIFEST_WORDS[name] }), ...(field as JsonSchema) },
  ]);
  const properties = { ...(Object.fromEntries(told) as object), hooks, permissions };
  return `${JSON.stringify({ title: "creel.plugin.json", ...schema, properties }, undefined, 2)}\n`;
}

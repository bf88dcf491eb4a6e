/** Reads what a replay changes from the command line. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pluginGrants } from "../../protocol/config/grants.ts";
import { byKind, grantOf } from "../../protocol/config/permission-key.ts";
import type { Grants } from "../../protocol/config/config.ts";
import type { WhatIf } from "../../replay/what-if.ts";
import { parseJson } from "../../text/parse-json.ts";
import { UsageError } from "../options.ts";

export interface WhatIfValues {
  readonly plugin?: readonly string[];
  readonly grants?: readonly string[];
  readonly order?: string;
  readonly without?: readonly string[];
}

export function whatIfOf({ plugin = [], grants = [], order, without = [] }: WhatIfValues): WhatIf {
  return {
    plugins: Object.fromEntries(plugin.map((text) => versionOf(text))),
    grants: Object.fromEntries(grants.map((text) => grantsOf(text))),
    ...(order !== undefined && { order: order.split(",").map((id) => id.trim()) }),
    without,
  };
}

function versionOf(text: string): [id: string, source: { path: string }] {
  const [id, path] = halves(text, "--plugin", "guard=./guard-next");
  if (!existsSync(path)) throw new UsageError(`there is no file or folder ${path}`, "name the folder of the other version of the plugin");
  return [id, { path: resolve(path) }];
}

function grantsOf(text: string): [id: string, grants: Grants] {
  const [id, given] = halves(text, "--grants", "'guard=kv fetch:https://api.example.com'");
  if (!given.startsWith("{")) {
    const keys = given === "none" ? [] : given.split(/\s+/);
    const all = keys.map((key) => grantOf(key));
    const wrong = all.indexOf(undefined);
    if (wrong !== -1) throw new UsageError(`"${keys[wrong]}" is no permission`, 'see "creel help permissions" for how they are written');
    return [id, byKind(all.filter((one) => one !== undefined)).grants];
  }
  // The older form, by kind.
  const parsed = parseJson(pluginGrants, given);
  if (!parsed.success)
    throw new UsageError(`--grants of ${id} are not valid`, "give permission keys, such as 'guard=kv env:REGION', or none");
  return [id, parsed.data];
}

function halves(text: string, option: string, example: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1 || at === text.length - 1) throw new UsageError(`${option} takes an id and a value`, `such as ${option} ${example}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

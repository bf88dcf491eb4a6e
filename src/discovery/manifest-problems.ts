/** Trusted side: all that is wrong with a manifest, each with its line and the key that was probably meant. */
import { findNodeAtLocation, parseTree } from "jsonc-parser";
import type * as z from "zod";
import { withoutDanger } from "../protocol/dangerous-text.ts";
import { jsonSchema } from "../protocol/rules/json-schema.ts";
import type { JsonSchema } from "../protocol/rules/json-schema.ts";
import { permissionFault } from "../protocol/config/permission-key.ts";
import { pluginManifest } from "../protocol/config/config.ts";
import { suggest } from "../text/did-you-mean.ts";
import { oneLine } from "../text/one-line.ts";
import { issuesOf } from "../text/schema-issue.ts";

const MAX_PROBLEMS = 20;

/** The parameters of ERR_PLUGIN_MANIFEST: the first problem in the message, and all of them as lines. */
export function manifestProblems(text: string, error: z.ZodError): { field: string; detail: string; frame: string } {
  const tree = parseTree(text);
  const found = issuesOf(error).flatMap(({ path, message, keys }) => {
    // A key that there is not: each is a problem of its own, at its own line.
    if (keys) return keys.map((key) => ({ path: [...path, key], detail: keyFault(key, path) }));
    return [{ path, detail: message.replace(/^Invalid input: /, "") }];
  });
  const lines = found.slice(0, MAX_PROBLEMS).map(({ path, detail }) => {
    const node = tree && nearest(tree, path);
    const line = node ? text.slice(0, node.offset).split("\n").length : 1;
    return `  line ${String(line).padEnd(4)} ${withoutDanger(path.join(".")) || "(whole file)"}: ${oneLine(detail, 300)}`;
  });
  const [first] = found;
  const more = found.length === 1 ? "" : ` (and ${found.length - 1} more)`;
  return { field: first!.path.join(".") || "(whole file)", detail: `${first!.detail}${more}`, frame: lines.join("\n") };
}

function keyFault(key: string, path: readonly (string | number)[]): string {
  const isPermission = path.length === 1 && path[0] === "permissions" && /^(?:fetch|connect|env|kv|fs|session):/.test(key);
  return (isPermission && permissionFault(key)) || `there is no such key${suggest(key, keysAt(path))}`;
}

/** The node of a path, or of its longest part that exists. */
function nearest(tree: NonNullable<ReturnType<typeof parseTree>>, path: readonly (string | number)[]): { readonly offset: number } {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(tree, path.slice(0, length));
    // A key is where its property begins.
    if (node) return node.parent?.type === "property" ? node.parent : node;
  }
  return tree;
}

/** What a manifest may have at a path. */
function keysAt(path: readonly (string | number)[]): string[] {
  let schema: JsonSchema | undefined = jsonSchema(pluginManifest);
  for (const step of path) schema = (typeof step === "number" ? schema?.items : schema?.properties?.[step]) as JsonSchema | undefined;
  return Object.keys(schema?.properties ?? {});
}

/**
 * Trusted side: turns a plugin's source, whatever its form, into a bundle that can run in a cell. The host knows only
 * the bundle.
 */
import { dirname } from "node:path";
import { bundleFile, bundleText } from "../bundler/bundle.ts";
import type { PluginBundle } from "../bundler/bundle.ts";
import type { SourcePlace } from "../host/inspect/sources.ts";
import { findPlugin } from "./manifest.ts";
import { checkScript } from "./turn-script.ts";

/**
 * `adapter`: the text of a virtual entry, which imports the file at `path`. `bundle`: it was bundled before; every load
 * reads it and compares it with what was accepted.
 */
export type PluginSource =
  | { readonly path: string; readonly adapter?: string }
  | { readonly source: string }
  | { readonly bundle: () => Promise<PluginBundle> };

/** Where the author's files are; empty for a plugin that was bundled before. Rejects with a CreelError. */
export async function placeOfSource(source: PluginSource): Promise<SourcePlace> {
  if ("bundle" in source) return {};
  if ("source" in source) return { text: source.source };
  return { root: source.adapter === undefined ? (await findPlugin(source.path)).root : dirname(source.path) };
}

/** `isLiteral`: for debuggers, see BundleRequest. Rejects with a CreelError. */
export async function bundleSource(source: PluginSource, isLiteral: boolean): Promise<PluginBundle> {
  if ("bundle" in source) return source.bundle();
  if ("source" in source) return bundleText(source.source, isLiteral);
  if (source.adapter !== undefined) {
    await checkScript(source.path);
    return bundleFile(dirname(source.path), source.path, source.adapter, { isLiteral });
  }
  const { root, entry, adapter, ownsRoot } = await findPlugin(source.path);
  return bundleFile(root, entry, adapter, { ownsRoot, isLiteral });
}

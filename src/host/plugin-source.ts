/** Trusted side: a plugin's source, whatever form it has, made into a bundle that can run in a cell. */
import { dirname } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { bundleFile, bundleText } from "./bundle.ts";
import type { PluginBundle } from "./bundle.ts";
import { findPlugin } from "./manifest.ts";
import { missingModules } from "./missing-modules.ts";
import type { Plugin } from "./plugin.ts";
import { checkScript } from "./turn-script.ts";

/** Rejects with a CreelError. Which modules it misses is also noted in its diagnostics. */
export async function bundlePlugin(plugin: Plugin): Promise<PluginBundle> {
  const bundle = await bundleSource(plugin);
  const missing = missingModules(bundle.builtins);
  if (missing.length === 0) return bundle;
  plugin.diagnostics = missing;
  const more = missing.length > 1 ? ` (and ${missing.length - 1} more, see its diagnostics)` : "";
  throw new CreelError("ERR_PLUGIN_ABSENT", { sentence: missing[0]!, more });
}

async function bundleSource({ source }: Plugin): Promise<PluginBundle> {
  if ("bundle" in source) return source.bundle();
  if ("source" in source) return bundleText(source.source);
  if (source.adapter !== undefined) {
    await checkScript(source.path);
    return bundleFile(dirname(source.path), source.path, source.adapter);
  }
  const { root, entry, adapter, ownsRoot } = await findPlugin(source.path);
  return bundleFile(root, entry, adapter, ownsRoot);
}

/**
 * Trusted side: the manifest and entry of a fetched plugin. Parses the third party's JSON strictly, before other code
 * reads it.
 */
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { findPlugin, MANIFESTS } from "../../discovery/manifest.ts";
import type { PluginFiles } from "../../discovery/manifest.ts";
import { CreelError } from "../../protocol/errors.ts";
import { pluginId } from "../../protocol/rules/plugin-id.ts";
import type { Fetched } from "../fetch/fetch.ts";
import { parseStrictJson } from "./strict-json.ts";

/** `folder` is the name of the source folder. Without a manifest, the plugin's id is the package's name. */
export async function readPluginFiles(
  { root, package: found }: Pick<Fetched, "root" | "package">,
  folder: string | undefined,
): Promise<PluginFiles> {
  let isDeclared = false;
  for (const path of MANIFESTS) {
    const bytes = await readFile(join(root, path)).catch(() => undefined);
    if (!bytes) continue;
    parseStrictJson(bytes, { path });
    isDeclared = true;
  }
  const files = await findPlugin(root).catch((error: unknown) => {
    // The staging path means nothing to the operator.
    if (!(error instanceof CreelError) || typeof error.params.path !== "string") throw error;
    throw new CreelError(error.code, { ...error.params, path: relative(root, error.params.path) || "the package" });
  });
  const version = files.manifest.version ?? found?.version;
  const manifest = { ...files.manifest, ...(version !== undefined && { version }) };
  if (isDeclared || files.hook) return { ...files, manifest };
  const names = [found?.name, folder?.replace(/\.(?:tgz|tar\.gz|tar)$/, "")];
  const id = names.find((name) => name !== undefined && pluginId.safeParse(name).success);
  return { ...files, manifest: { ...manifest, id: id ?? manifest.id } };
}

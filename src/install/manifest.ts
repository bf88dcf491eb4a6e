/** Trusted side: the manifest and entry of a plugin that was fetched. A stranger's JSON is read strictly here, before anybody else reads it. */
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { findPlugin, MANIFESTS } from "../host/manifest.ts";
import type { PluginFiles } from "../host/manifest.ts";
import { CreelError } from "../protocol/errors.ts";
import { pluginId } from "../protocol/registration.ts";
import type { Fetched } from "./fetch.ts";
import { parseStrictJson } from "./strict-json.ts";

/** `folder` is what the place it came from is called. Without a manifest, the package's name is the plugin's. */
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
    // Where it lies for the moment means nothing to anybody.
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

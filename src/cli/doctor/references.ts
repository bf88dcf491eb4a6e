/** Checks what a creel.json refers to: paths, secrets, and plugins by id. */
import { existsSync } from "node:fs";
import { readSecrets } from "../../host/services/secrets/secrets.ts";
import { suggest } from "../../text/did-you-mean.ts";
import { configFaults, configSchemaOf } from "../../install/manifest/config-schema.ts";
import { pluginManifest } from "../../protocol/config/config.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import { CreelError } from "../../protocol/errors.ts";
import { resolveFrom } from "../../discovery/config-file.ts";
import { broken, warn } from "./check.ts";
import type { Check } from "./check.ts";
import type { ConfigFindings } from "./config-check.ts";

/** `installed`: the ids in the lock, and their manifests. */
export async function referenceChecks(
  { config, whereIs }: ConfigFindings,
  base: string,
  installed: ReadonlyMap<string, unknown>,
): Promise<Check[]> {
  const checks = pathsOf(config)
    .filter(({ path }) => !existsSync(resolveFrom(base, path)))
    .map(({ path, at }) =>
      broken("config", `${at.join(".")}: ${path} does not exist`, "write a path that exists, relative to the creel.json", whereIs(at)),
    );
  for (const [name, source] of Object.entries(config.secrets ?? {})) {
    const at = ["secrets", name];
    await readSecrets({ [name]: source }, (path) => resolveFrom(base, path)).catch((error: unknown) => {
      if (!(error instanceof CreelError)) throw error;
      checks.push(broken("config", error.message, error.fix, whereIs(at)));
    });
  }
  for (const id of Object.keys(config.plugins?.entries ?? {})) {
    // It may be the id of a plugin that the gateway brings, or of one in a folder.
    const meant = installed.has(id) ? "" : suggest(id, [...installed.keys()]);
    const at = ["plugins", "entries", id];
    if (meant !== "")
      checks.push(warn("config", `${at.join(".")}: no installed plugin has that id${meant}`, "write the plugin's id", whereIs(at)));
  }
  for (const [id, manifest] of installed) {
    const settings = config.plugins?.entries?.[id];
    const schema = settings?.enabled === false ? undefined : configSchemaOf(pluginManifest.safeParse(manifest).data ?? {});
    for (const { path, message } of await configFaults({ id, schema, config: settings?.config ?? {} }))
      checks.push(
        broken(
          "config",
          message,
          `write what the configSchema of the plugin's manifest allows`,
          whereIs(["plugins", "entries", id, "config", ...path]),
        ),
      );
  }
  return checks;
}

const list = (paths: readonly string[] | undefined, at: readonly string[]) =>
  (paths ?? []).map((path, index) => ({ path, at: [...at, String(index)] }));

function pathsOf({ plugins, hooks }: CreelConfig): { path: string; at: string[] }[] {
  const scripts = (["beforeTurn", "afterTurn", "onTurnError"] as const).flatMap((turn) =>
    (hooks?.agent?.[turn] ?? [])
      .map(({ script, enabled }, index) => ({ path: script, at: ["hooks", "agent", turn, String(index), "script"], enabled }))
      .filter(({ enabled }) => enabled !== false),
  );
  return [
    ...list(plugins?.load?.paths, ["plugins", "load", "paths"]),
    ...list(hooks?.internal?.load?.extraDirs, ["hooks", "internal", "load", "extraDirs"]),
    ...scripts,
  ];
}

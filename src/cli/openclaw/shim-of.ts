/** The shim of an installed plugin: what it registers when it is loaded, and what its manifest says. */
import { fileURLToPath } from "node:url";
import { existsSync } from "node:fs";
import { silentLogger } from "../../host/report/silent-logger.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import { openHostWith } from "../../sdk/open-host.ts";
import { shimFilesOf } from "../../openclaw/shim-files.ts";
import type { NativeManifest } from "../../openclaw/shim-files.ts";
import { SHIM_VERSION } from "../../openclaw/shim-facts.ts";
import type { ShimFacts } from "../../openclaw/shim-facts.ts";
import type { Project } from "../plugins/project.ts";
import { version } from "../self.ts";

/** The module that a shim loads: built, it checks Node first; in a checkout, the source. */
export function bridgePath(): string {
  const built = fileURLToPath(new URL("../../openclaw-entry.js", import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL("../../openclaw/bridge.ts", import.meta.url));
}

export interface Shim {
  readonly facts: ShimFacts;
  readonly files: Record<string, string>;
}

/** Loads the plugin once, with the settings it will have. Rejects when it does not load. */
export async function shimOf(project: Project, id: string, config: CreelConfig, native: ShimFacts["native"]): Promise<Shim> {
  const { state, base, configFile } = project;
  const entry = (await state.read()).get(id);
  if (!entry) throw new CreelError("ERR_PLUGIN_UNKNOWN", { plugin: id });
  const { manifest } = await state.loadEntry(entry);
  const options = { config: { ...config, plugins: { ...config.plugins, load: {} } }, allowFailed: true, logger: silentLogger };
  await using host = await openHostWith(options, { stateDir: state.dir, base, isEager: true, installed: (one) => one.id === id });
  const report = host.inspect(id);
  if (report.status !== "ready") throw new CreelError("ERR_OPENCLAW_LOAD", { plugin: id, detail: report.error?.message ?? report.status });
  const facts: ShimFacts = {
    version: SHIM_VERSION,
    id,
    name: report.name,
    ...(report.version !== undefined && { pluginVersion: report.version }),
    creel: version(),
    bridge: bridgePath(),
    stateDir: state.dir,
    ...(configFile !== undefined && existsSync(configFile) && { configFile }),
    ...(native && { native }),
    hooks: report.hooks.map(({ hook, priority, options: said, budget, failure }) => ({
      hook,
      priority,
      options: said,
      wallMs: budget.wallMs.value,
      failure,
    })),
    functions: report.functions.map(({ kind, name, about }) => ({ kind, name, about })),
  };
  return { facts, files: shimFilesOf(facts, Object(manifest) as NativeManifest) };
}

/**
 * `creel/console/tools`: what `creel console` can do with a project's files, for the console of a host in this process. It is in this room
 * because it does what the commands do, by their functions; the console itself must not depend on them.
 */
import { dirname, resolve } from "node:path";
import { lockKeyOf, readConfig } from "../../discovery/config-file.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import type { Host } from "../../host/host-api.ts";
import type { ConsoleTools } from "../../console/console-tools.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import { CreelError } from "../../protocol/errors.ts";
import { openState } from "../../state/state.ts";
import { projectTools } from "./project-tools.ts";

/** What the host was opened with. */
export interface HostToolsOptions {
  /** The path of a creel.json, or its content; relative paths in it then start at the working directory. */
  readonly config?: string | CreelConfig;
  /** Those the gateway names beside the configuration, for replays. */
  readonly plugins?: readonly PluginSpec[];
  /** Of replays. Default: `process`. */
  readonly isolation?: "process" | "thread";
}

/**
 * For `serveConsole(host, { tools })`: reruns, bisects and what-ifs of what the host has recorded, permissions of installed plugins, and reviews
 * of updates. A changed permission counts in this host at once. Rejects with a CreelError if the host has no state folder.
 */
export async function hostTools(host: Pick<Host, "stateDir" | "reload">, options: HostToolsOptions = {}): Promise<ConsoleTools> {
  if (host.stateDir === undefined) throw new CreelError("ERR_INSTALL_NO_STATE");
  const { config: given, plugins, isolation } = options;
  const configFile = typeof given === "string" ? resolve(given) : undefined;
  const config = typeof given === "object" ? given : await readConfig(configFile);
  const base = configFile === undefined ? process.cwd() : dirname(configFile);
  const key = await lockKeyOf(config, base);
  const project = { config, configFile, base, state: openState(host.stateDir, key && { key }) };
  return projectTools(project, { plugins, isolation, changed: (plugin) => host.reload(plugin) });
}

/** Trusted side: what the host tells a cell about its plugin and the machine when it opens. */
import type { GuestFacts } from "../../protocol/guest-surface/world.ts";
import { PACKAGE_ROOT } from "../../protocol/messages/files.ts";
import type { Plugin } from "./plugin.ts";

export function factsOf({ id, name, version, description, config, visibleConfig, grants, env }: Plugin): GuestFacts {
  return {
    api: {
      id,
      name,
      version,
      description,
      source: PACKAGE_ROOT,
      rootDir: PACKAGE_ROOT,
      registrationMode: "full",
      config: visibleConfig,
      pluginConfig: config,
    },
    world: {
      env: { ...granted(grants.env), ...env },
      platform: process.platform,
      arch: process.arch,
      clock: grants.clock ?? "coarse",
      wasm: grants.wasm ?? false,
    },
  };
}

/** SECURITY: by exact name; other variables do not leave the gateway. test/contract/env.test.ts */
function granted(names: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

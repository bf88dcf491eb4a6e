/** Trusted side: what a plugin's cell is told when it is opened. */
import type { GuestFacts } from "../protocol/guest-world.ts";
import { PACKAGE_ROOT } from "../protocol/volume.ts";
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

/** SECURITY: by exact name; what was not named does not leave the gateway. test/contract/env.test.ts */
function granted(names: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

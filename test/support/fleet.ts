/** Hosts of a fleet in this process, and the operator's state folder, on a real NATS server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PluginSpec } from "creel";
import type { CreelConfig } from "../../src/protocol/config/config.ts";
import { openState } from "../../src/state/state.ts";
import type { State } from "../../src/state/state.ts";
import { Member } from "../../src/fleet/member.ts";
import type { FleetSettings } from "../../src/fleet/settings.ts";
import type { Served } from "../../src/serve/server.ts";
import { folder, QUICK } from "./files.ts";
import { recorder } from "./host.ts";
import { served } from "./serve.ts";
import type { Keys, Nats } from "./nats.ts";

export function stateFolder(): State {
  return openState(join(folder({}, QUICK), "state"));
}

export function settingsOf(nats: Nats, keys: Keys, operators: readonly string[], auditDays?: number): FleetSettings {
  return { ...nats.accessOf(keys), operators, signingKey: undefined, auditDays };
}

export interface FleetHost extends AsyncDisposable {
  readonly served: Served;
  readonly state: State;
  readonly lines: ReturnType<typeof recorder>["lines"];
}

/** `state`: of an earlier life. `causes`: the file with the key that hosts share. */
export async function fleetHost(
  settings: FleetSettings,
  state = stateFolder(),
  plugins: PluginSpec[] = [],
  causes?: string,
  more: Pick<CreelConfig, "hooks"> = {},
): Promise<FleetHost> {
  const { name, servers, operators } = settings;
  const durable = { through: settings.isRelayed ? ("jetstream" as const) : ("outbox" as const) };
  const fleet = { name, servers: [...servers], operators: [...operators], credentials: "unread", causes, durable };
  const config = { stateDir: state.dir, sandbox: { spare: false, walls: "none" as const }, audit: { enabled: false }, fleet, ...more };
  const { logger, lines } = recorder();
  const host = await served({ config, logger, plugins, isFleet: true });
  const member = await Member.join({ settings, served: host, state, config, creel: "0.0.0", logger });
  return {
    served: host,
    state,
    lines,
    async [Symbol.asyncDispose]() {
      await member.close();
      await host.close();
    },
  };
}

/** A file that only its user can read, with a member's key. */
export function credentialsOf({ seed }: Keys): string {
  const path = join(folder({}, QUICK), "key.nk");
  writeFileSync(path, seed, { mode: 0o600 });
  return path;
}

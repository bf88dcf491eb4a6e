/** A host of a fleet in a process of its own, to be killed or stopped. Says "ready" when it answers. Run by fleet-failures.ts. */
import { writeSync } from "node:fs";
import { openState } from "../../src/state/state.ts";
import { Member } from "../../src/fleet/member.ts";
import type { FleetSettings } from "../../src/fleet/settings.ts";
import { serve } from "../../src/serve/server.ts";
import type { PluginSpec } from "creel";

const input = JSON.parse(process.argv[2]!) as {
  settings: Omit<FleetSettings, "seed"> & { seed: string };
  stateDir: string;
  socket: string;
  plugins: PluginSpec[];
  isolation?: "thread" | "process";
  hasAudit?: boolean;
  durable?: string[];
  through?: "outbox" | "jetstream";
  skewMs?: number;
};
if (input.skewMs) {
  const now = Date.now;
  Date.now = () => now() + input.skewMs!;
}
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const { name, servers, operators } = input.settings;
const config = {
  fleet: {
    name,
    servers: [...servers],
    operators: [...operators],
    credentials: "unread",
    durable: { through: input.through ?? ("outbox" as const) },
  },
  stateDir: input.stateDir,
  sandbox: { spare: false, walls: "none" as const },
  audit: { enabled: input.hasAudit ?? false },
  ...(input.durable && { hooks: { durable: input.durable } }),
};
const { socket, plugins, isolation = "thread" } = input;
const served = await serve({ socket, isolation, lanes: 1, plugins, logger, config, isFleet: true });
const settings: FleetSettings = { ...input.settings, ca: undefined, signingKey: undefined, seed: Buffer.from(input.settings.seed) };
await Member.join({ settings, served, state: openState(input.stateDir), config, creel: "0.0.0", logger });
writeSync(1, "ready\n");

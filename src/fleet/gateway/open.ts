/** Trusted side, a gateway: `openHost({ fleet })`. Its runs are judged by hosts on other machines. */
import { resolve } from "node:path";
import { fleetConfig } from "../../protocol/config/fleet.ts";
import { firstIssue } from "../../text/schema-issue.ts";
import type { Host } from "../../host/host-api.ts";
import { wrongOption } from "../../sdk/known-options.ts";
import type { OpenOptions } from "../../sdk/options.ts";
import { joinHost } from "../../sdk/remote/remote-host.ts";
import { connectNats } from "../nats.ts";
import { readAccess } from "../settings.ts";
import { FleetLink } from "./fleet-link.ts";

const accessConfig = fleetConfig.pick({ name: true, servers: true, credentials: true, ca: true });

export async function openFleet(options: OpenOptions): Promise<Host> {
  const checked = accessConfig.safeParse(options.fleet);
  if (!checked.success) {
    const { field, detail } = firstIssue(checked.error);
    throw wrongOption(`fleet.${field}`, detail);
  }
  const access = await readAccess(checked.data, (path) => resolve(path));
  return joinHost(options, {
    place: access.servers.join(", "),
    open: async (link) => FleetLink.open(link, await connectNats(access), access.name),
  });
}

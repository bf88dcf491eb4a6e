/** The host that `creel serve` runs, for one call: what is called there runs with the gateway's plugins, grants and state. */
import { silentLogger } from "../../host/report/silent-logger.ts";
import type { Host } from "../../host/host-api.ts";
import type { ApprovalDecision } from "../../protocol/hooks/tool.ts";
import { openHost } from "../../sdk/open-host.ts";

/** `approval`: the user's answer when a plugin asks for approval; undefined: this command has no user. */
export function joinServed(socket: string, approval: ApprovalDecision | undefined): Promise<Host> {
  const gateway = approval === undefined ? {} : { requestApproval: async () => approval };
  return openHost({ connect: socket, gateway, logger: silentLogger });
}

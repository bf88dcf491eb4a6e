/**
 * `creel/openclaw`, the gateway's side: what a shim calls when OpenClaw registers it. OpenClaw requires this module, so neither it nor
 * its imports await at the top level.
 */
import { setTimeout } from "node:timers/promises";
import { registerDerived } from "./derived-events.ts";
import { registerCommandLines, registerFunctions } from "./functions.ts";
import type { GatewayApi, GatewaySdk } from "./gateway-api.ts";
import { registerHooks } from "./hook-handlers.ts";
import { registerInternal } from "./internal-events.ts";
import { refusedTurns } from "./refused-turns.ts";
import { registerRelease } from "./release.ts";
import { messageOf, sharedHost } from "./shared-host.ts";
import { shimFacts } from "./shim-facts.ts";

/**
 * OpenClaw gives up on a reload whose service takes longer than 5 s to start. On a busy machine the sandbox takes longer, so the service
 * then starts without it: the plugin's gates wait for the sandbox, call by call.
 */
const START_MS = 2_000;

/** Registers a sandboxed plugin. Throws when the facts are not valid: the shim then keeps its gates shut. */
export function shim(given: unknown, api: GatewayApi, sdk: () => Promise<GatewaySdk>): void {
  if (api.registrationMode === "setup-only") return;
  const facts = shimFacts.parse(given);
  const shared = sharedHost();
  const attachment = { facts, api, sdk, refused: refusedTurns(facts.id) };
  const isMetadata = api.registrationMode === "cli-metadata";
  // A shim that is refused leaves nothing behind.
  if (!isMetadata) shared.admit(attachment);
  registerCommandLines(attachment, shared);
  if (isMetadata) return;
  registerHooks(attachment, shared);
  registerInternal(attachment, shared);
  registerDerived(attachment, shared);
  registerFunctions(attachment, shared);
  registerRelease(attachment, shared);
  api.lifecycle?.onDispose?.(() => shared.detach(attachment));
  if (api.registrationMode !== "full") return;
  shared.attach(attachment);
  api.registerService({
    id: `creel-${facts.id}`,
    start: async () => {
      // The clock runs from here on: loading the host keeps the event loop busy, too.
      const patience = setTimeout(START_MS, undefined, { ref: false });
      const opened = shared.ready(attachment).catch((error: unknown) => {
        api.logger.error(`creel: the sandbox did not open: ${messageOf(error)}`);
      });
      await Promise.race([opened, patience]);
    },
    stop: () => shared.detach(attachment),
  });
}

export { shimFacts } from "./shim-facts.ts";
export type { ShimFacts } from "./shim-facts.ts";
export type { GatewayApi, GatewaySdk } from "./gateway-api.ts";

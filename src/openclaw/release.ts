/**
 * Trusted side: how an operator lets a plugin out of quarantine in a running gateway, whose host no other process reaches: each shim has a
 * method of the gateway for its own plugin, which OpenClaw opens to operators alone. `creel openclaw release` calls it.
 */
import { messageOf } from "./shared-host.ts";
import type { Attachment, SharedHost } from "./shared-host.ts";

/** SECURITY: no plugin has a method of such a name: it could answer in place of another plugin's. test/openclaw/release.test.ts */
export const OWN_METHODS = "creel.";

const SCOPE = "operator.admin";

export function releaseMethodOf(id: string): string {
  return `${OWN_METHODS}release.${id}`;
}

export function registerRelease(attachment: Attachment, shared: SharedHost): void {
  const { facts, api } = attachment;
  api.registerGatewayMethod(
    releaseMethodOf(facts.id),
    async ({ respond }) => {
      try {
        const host = await shared.ready(attachment);
        const { status, circuit, error } = await host.release(facts.id);
        respond(true, { status, circuit: circuit.state, ...(error && { error: error.message }) });
      } catch (error) {
        respond(false, undefined, { code: "UNAVAILABLE", message: messageOf(error) });
      }
    },
    { scope: SCOPE },
  );
}

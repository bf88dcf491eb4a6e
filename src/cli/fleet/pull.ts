/** Makes the lock of an operator's state folder equal to the fleet's, after another operator has changed it. */
import { Steward } from "../../fleet/control/steward.ts";
import { connectNats } from "../../fleet/nats.ts";
import { fleetSettings } from "../../fleet/settings.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";
import { findProject } from "../plugins/project.ts";
import type { Terminal } from "../ui/terminal.ts";
import { printableJson } from "../ui/text.ts";
import { EXIT } from "../verb.ts";

export async function pull(
  values: { readonly config?: string; readonly "state-dir"?: string },
  out: Terminal,
  isJson: boolean,
): Promise<number> {
  const { config, base, state } = await findProject(values);
  const settings = await fleetSettings(config, base);
  const bus = await connectNats(settings);
  try {
    // No host runs here: what it would load, the next one does.
    const host = { plugins: () => [], reload: () => Promise.reject(new CreelError("ERR_PLUGIN_UNKNOWN", { plugin: "" })) };
    const steward = new Steward({ bus, state, host, operators: settings.operators, logger: silentLogger, changed() {} });
    await steward.look();
    await steward.close();
    if (steward.fault)
      throw new CreelError("ERR_FLEET_FAILED" satisfies ErrorCode, { subject: "creel_lock", detail: steward.fault.message });
    out.line(isJson ? printableJson({ serial: steward.serial }) : `the state folder has change ${steward.serial} of the fleet`);
    return EXIT.ok;
  } finally {
    await bus.close();
  }
}

/** Trusted side: `openHost` of the package. Loads the host when a gateway opens one, so that importing Creel stays cheap. */
import type { Catalog, HookTable } from "../protocol/catalog.ts";
import type { Host } from "../host/host-api.ts";
import type { OpenOptions } from "./options.ts";

export async function openHost<Own extends HookTable = {}>(options: OpenOptions<Own> = {}): Promise<Host<Catalog & Own>> {
  // Null is no object of options; the host says so.
  const isOwn = options !== null && options.connect === undefined && options.fleet === undefined;
  const { startFirst } = isOwn ? await import("./first-unit.ts") : {};
  const first = startFirst?.(options);
  const { openHost: open } = await import("./open-host.ts");
  return open(options, first);
}

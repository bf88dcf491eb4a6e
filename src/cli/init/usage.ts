/** What `creel permissions suggest` knows of a plugin, for `creel init --from-openclaw`. */
import { CreelError } from "../../protocol/errors.ts";
import { usageReport } from "../plugins/narrowest-grants.ts";
import type { UsageReport } from "../plugins/narrowest-grants.ts";
import { findProject } from "../plugins/project.ts";

/** Undefined: there is no state folder, the plugin is not installed there, or it has not run. */
export async function usageWhere(
  values: { readonly config?: string; readonly "state-dir"?: string },
  id: string,
): Promise<UsageReport | undefined> {
  try {
    const report = await usageReport(await findProject(values), id, () => "");
    return report.since === null ? undefined : report;
  } catch (error) {
    if (error instanceof CreelError) return undefined;
    throw error;
  }
}

/** Missing walls, said once by commands that run a plugin or ask whether to install one. */
import type { CreelConfig } from "../../protocol/config/config.ts";
import { findWalls } from "../../host/supervisor/launch/probe.ts";
import { wallsWanted } from "../../host/supervisor/launch/plan.ts";
import { processReport, wallsWarning } from "../../host/supervisor/launch/walls-report.ts";
import type { Terminal } from "./terminal.ts";
import { wrap } from "./text.ts";

/** The warning for a host with this configuration. The walls are probed once per process. */
export async function wallsWarningFor({ sandbox }: Pick<CreelConfig, "sandbox">): Promise<string | undefined> {
  const wanted = wallsWanted(sandbox);
  return wallsWarning(processReport((await findWalls(wanted)).layers, wanted.walls));
}

export function sayWalls(warning: string | undefined, { line, paint, width }: Terminal): void {
  if (warning === undefined) return;
  for (const [at, part] of wrap(`${warning}; "creel doctor" says what to do`, width - 2).entries())
    line(`${at === 0 ? paint("red", "!") : " "} ${part}`);
}

/** Inside the isolate: what the operator lets this plugin take. Told with the load; nothing runs before. */
import type { PluginLimits } from "../../protocol/plugin-limits.ts";
import { bare, parse } from "./primordials.ts";

export const limits: Pick<PluginLimits, "bytesOut" | "logLines" | "timers"> = bare({ bytesOut: 0, logLines: 0, timers: 0 });

export function setLimits(text: string): void {
  const told = parse(text) as PluginLimits;
  limits.bytesOut = told.bytesOut;
  limits.logLines = told.logLines;
  limits.timers = told.timers;
}

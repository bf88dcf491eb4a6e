/**
 * Trusted side: starts the first sandbox process of a gateway's host while the host's code still loads, which takes half as long. What is wrong with
 * the options or the walls is left for the host to say.
 */
import type { HookTable } from "../protocol/catalog.ts";
import { sandboxOf } from "../discovery/config-file.ts";
import { wallsWanted } from "../host/supervisor/launch/plan.ts";
import { buildWalls } from "../host/supervisor/launch/probe.ts";
import type { BuiltWalls } from "../host/supervisor/launch/probe.ts";
import { defaultLanes } from "./lanes.ts";
import type { OpenOptions } from "./options.ts";

export interface FirstUnit {
  /** Undefined: there is none. Never rejects. */
  readonly walls: Promise<BuiltWalls | undefined>;
}

/** The process is being started; undefined: this host has none, or its options are wrong. */
export function startFirst({ isolation, lanes = defaultLanes(), config }: OpenOptions<HookTable>): FirstUnit | undefined {
  if ((isolation !== undefined && isolation !== "process") || !Number.isInteger(lanes) || lanes < 1 || lanes > 64) return undefined;
  try {
    const sandbox = sandboxOf(config);
    return sandbox && { walls: buildWalls(wallsWanted(sandbox, lanes), lanes).catch(() => undefined) };
  } catch {
    return undefined;
  }
}

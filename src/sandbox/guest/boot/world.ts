/**
 * Inside the isolate: what the host says about the plugin's world when it loads the plugin: facts, limits, files. The
 * host is trusted, and no plugin code runs before these are set.
 */
import type { PluginLimits } from "../../../protocol/config/plugin-limits.ts";
import type { GuestWorld } from "../../../protocol/guest-surface/world.ts";
import { bare, parse } from "./primordials.ts";

interface World extends GuestWorld {
  /** 32 random bytes in hexadecimal, new for every cell. */
  seed: string;
  /** An exact clock in milliseconds. Undefined unless the operator granted one. */
  now: (() => number) | undefined;
  /** The time in an author's test, in milliseconds since 1970. Undefined: V8's own. */
  date: (() => number) | undefined;
}

export const world: World = bare({
  env: {},
  platform: "linux",
  arch: "x64",
  wasm: false,
  clock: "coarse",
  seed: "",
  now: undefined,
  date: undefined,
});

export function setWorld(facts: GuestWorld, seed: string, now: World["now"], date: World["date"]): void {
  Object.assign(world, facts, { seed, now, date });
}

/** The operator's limits for this plugin that the guest keeps itself. */
export const limits: Pick<PluginLimits, "bytesOut" | "logLines" | "timers"> = bare({ bytesOut: 0, logLines: 0, timers: 0 });

export function setLimits(text: string): void {
  const all = parse(text) as PluginLimits;
  limits.bytesOut = all.bytesOut;
  limits.logLines = all.logLines;
  limits.timers = all.timers;
}

/**
 * Files that came with the load, as JSON texts (protocol/messages/files.ts). `fs` parses them when the plugin first
 * uses it. Undefined: the plugin may not read its own files, or has no volume.
 */
export const mounts: { files: string | undefined; volume: string | undefined } = bare({ files: undefined, volume: undefined });

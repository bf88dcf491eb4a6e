/**
 * Trusted side: what `shim.json` says, for Creel to write when it moves a plugin and for the bridge to read in the gateway. OpenClaw
 * wants hooks, tools and commands at registration, before any sandbox is up, so they are written down here.
 */
import * as z from "zod";
import { FUNCTION_KINDS } from "../protocol/messages/function-kinds.ts";
import { pluginId } from "../protocol/rules/plugin-id.ts";
import { handlerOptions } from "../protocol/rules/registration.ts";

export const SHIM_VERSION = 1;

const shimHook = z.strictObject({
  hook: z.string().min(1),
  priority: z.number(),
  options: handlerOptions,
  /** Creel's own budget; OpenClaw waits longer, so that Creel ends the call and names the reason. */
  wallMs: z.number().positive(),
  /** What a failure means: as the catalog says, unless the plugin is required or the operator says otherwise. */
  failure: z.enum(["open", "closed"]).default("open"),
});
export type ShimHook = z.infer<typeof shimHook>;

const shimFunction = z.strictObject({
  kind: z.enum(FUNCTION_KINDS),
  name: z.string().min(1),
  about: z.record(z.string(), z.unknown()),
});
export type ShimFunction = z.infer<typeof shimFunction>;

export const shimFacts = z.strictObject({
  version: z.literal(SHIM_VERSION),
  id: pluginId,
  name: z.string(),
  pluginVersion: z.string().optional(),
  /** The Creel that wrote it. */
  creel: z.string(),
  /** Absolute paths: the module to load, Creel's state folder, and the creel.json, if there is one. */
  bridge: z.string(),
  stateDir: z.string(),
  configFile: z.string().optional(),
  /** The folder of the native copy that was moved, and a digest of its files: `status` compares them. */
  native: z.strictObject({ dir: z.string(), digest: z.string() }).optional(),
  hooks: z.array(shimHook),
  functions: z.array(shimFunction),
});
export type ShimFacts = z.infer<typeof shimFacts>;

/** A command of OpenClaw's own command line that a plugin provides, as OpenClaw wants to know it before it loads the plugin. */
export interface CommandLine {
  readonly name: string;
  readonly description: string;
  readonly hasSubcommands: boolean;
}

/** What stands behind a name is the plugin's to read. */
export function commandLinesOf({ name: plugin, functions }: Pick<ShimFacts, "name" | "functions">): CommandLine[] {
  return functions
    .filter(({ kind }) => kind === "cli")
    .map(({ name, about: { description } }) => ({
      name,
      description: typeof description === "string" ? description : `${name} of ${plugin}`,
      hasSubcommands: true,
    }));
}

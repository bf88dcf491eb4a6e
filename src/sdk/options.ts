/** Trusted side: what a gateway may give to `openHost`, and what becomes of it together with the configuration. */
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import * as z from "zod";
import { creelConfig, pluginHooksConfig } from "../protocol/config.ts";
import type { CreelConfig } from "../protocol/config.ts";
import type { HookTable } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
import type { RequestApproval } from "../host/approvals.ts";
import { firstIssue } from "../host/issues.ts";
import { defaultLogger } from "../host/log.ts";
import type { Logger } from "../host/log.ts";
import { checkedId, findPlugin } from "../host/manifest.ts";
import type { Plugin } from "../host/plugin.ts";

const pluginSpec = z.union([
  z.strictObject({
    path: z.string(),
    id: z.string().optional(),
    config: z.record(z.string(), z.unknown()).optional(),
    hooks: pluginHooksConfig.optional(),
  }),
  z.strictObject({
    id: z.string(),
    source: z.string(),
    config: z.record(z.string(), z.unknown()).optional(),
    hooks: pluginHooksConfig.optional(),
  }),
]);
/** A plugin beside the installed ones: a folder or file, or its source as text. Sandboxed all the same. */
export type PluginSpec = z.infer<typeof pluginSpec>;

const plainOptions = z.strictObject({
  isolation: z.enum(["process", "thread"]).optional(),
  lanes: z.int().min(1).max(64).optional(),
  config: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  plugins: z.array(pluginSpec).optional(),
});

export interface OpenOptions<Own extends HookTable = {}> {
  /** `process` (default): the plugins run in a supervised child. `thread`: in this process, faster, and less safe. */
  readonly isolation?: "process" | "thread";
  /** Worker threads. Default: cores - 1, at least 1. */
  readonly lanes?: number;
  /** A `creel.json`, or its content. */
  readonly config?: string | CreelConfig;
  readonly plugins?: readonly PluginSpec[];
  /** Hooks of the gateway's own, by name; see `defineHook`. */
  readonly hooks?: Own;
  /** What plugins may ask of the gateway. */
  readonly gateway?: { readonly requestApproval?: RequestApproval };
  /** pino-compatible. Default: warnings and errors on stderr. */
  readonly logger?: Logger;
}

export interface Resolved {
  readonly isolation: "process" | "thread";
  readonly lanes: number;
  readonly config: CreelConfig;
  readonly plugins: Plugin[];
  readonly logger: Logger;
}

export async function resolveOptions(options: OpenOptions<HookTable>): Promise<Resolved> {
  const { isolation, lanes, config: configOption, plugins } = options;
  const checked = plainOptions.safeParse({ isolation, lanes, config: configOption, plugins });
  if (!checked.success) throw new CreelError("ERR_HOST_OPTIONS", firstIssue(checked.error));
  const config = await readConfig(checked.data.config);
  const laneCount = lanes ?? Math.max(1, availableParallelism() - 1);
  return {
    isolation: isolation ?? "process",
    lanes: laneCount,
    config,
    plugins: await resolvePlugins(checked.data.plugins ?? [], config, laneCount),
    logger: options.logger ?? defaultLogger(),
  };
}

async function readConfig(config: string | object | undefined): Promise<CreelConfig> {
  const source = typeof config === "string" ? config : "the configuration";
  let value: unknown = config ?? {};
  if (typeof config === "string") {
    try {
      value = JSON.parse(await readFile(config, "utf8"));
    } catch (error) {
      throw new CreelError("ERR_CONFIG_READ", { source, detail: (error as Error).message });
    }
  }
  const parsed = creelConfig.safeParse(value);
  if (!parsed.success) throw new CreelError("ERR_CONFIG_INVALID", { source, ...firstIssue(parsed.error) });
  return parsed.data;
}

async function resolvePlugins(given: readonly PluginSpec[], config: CreelConfig, lanes: number): Promise<Plugin[]> {
  if (config.plugins?.enabled === false) return [];
  const specs: PluginSpec[] = [...(config.plugins?.load?.paths ?? []).map((path) => ({ path })), ...given];
  return Promise.all(
    specs.map(async (spec, order): Promise<Plugin> => {
      const manifest = "path" in spec ? (await findPlugin(spec.path)).manifest : { id: checkedId(spec.id) };
      const id = spec.id === undefined ? manifest.id : checkedId(spec.id);
      const entry = config.plugins?.entries?.[id];
      return {
        id,
        name: manifest.name ?? id,
        version: manifest.version,
        order,
        cell: order,
        lane: order % lanes,
        config: { ...entry?.config, ...spec.config },
        hooks: { ...entry?.hooks, ...spec.hooks },
        source: "path" in spec ? { path: spec.path } : { source: spec.source },
        bundle: undefined,
        status: entry?.enabled === false ? "disabled" : "loading",
        error: undefined,
        diagnostics: [],
        loadMs: undefined,
        loadDeaths: 0,
        replacements: 0,
      };
    }),
  );
}

/**
 * Examines a plugin for `creel check`: whether it bundles, whether its types fit the sandbox, and what it registers.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { requestsByKey } from "../../protocol/config/permissions.ts";
import { bundleAndScan } from "../../bundler/bundle.ts";
import { requestedPermissionsOf, unrequestedPermissionsOf } from "../../install/review/requested-permissions.ts";
import type { RequestedPermission } from "../../install/review/requested-permissions.ts";
import { configSchemaOf } from "../../install/manifest/config-schema.ts";
import { needsWords } from "../../install/review/examine.ts";
import { sampleConfigs } from "../../install/review/sample-config.ts";
import type { PluginHooksConfig, PluginManifest } from "../../protocol/config/config.ts";
import { openHost } from "../../sdk/open-host.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import { findPlugin } from "../../discovery/manifest.ts";
import { ERRORS } from "../../protocol/errors.ts";
import { checkTypes } from "./types.ts";
import type { TypesMode } from "./types.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";

export interface Problem {
  readonly step: "bundle" | "types" | "register";
  readonly message: string;
  /** File, line and column, relative to the plugin's folder. */
  readonly at: string | undefined;
  /** The lines of code it is about, or the frames of the stack. */
  readonly frame?: string | undefined;
  readonly fix: string | undefined;
}

export interface Findings {
  readonly id: string;
  readonly name: string;
  readonly version: string | undefined;
  readonly bundleBytes: number | undefined;
  readonly loadMs: number | undefined;
  readonly hooks: readonly { readonly hook: string; readonly priority: number }[];
  /** Whether types were checked, by which TypeScript, or why not. */
  readonly types: { readonly isChecked: boolean; readonly by: string };
  /** It does not run, or not as written. */
  readonly problems: readonly Problem[];
  /** What an operator will be asked to grant. Empty if it does not bundle. */
  readonly permissions: readonly RequestedPermission[];
  /** What its code seems to need, and its manifest does not request. */
  readonly unrequested: readonly RequestedPermission[];
  /** The plugin runs, but the host did not accept all it registered, or the plugin used an API that does not exist. */
  readonly remarks: readonly string[];
}

export async function examine(path: string, mode: TypesMode): Promise<Findings> {
  const { root, entry, adapter, manifest } = await findPlugin(path);
  // The sandbox has no grants, but conversation hooks may register, so that the check sees them.
  const hooks = { allowConversationAccess: true, allowInstallDecisions: true };
  const [types, { report, needs }, scanned] = await Promise.all([
    checkTypes(root, entry, mode),
    configuredVisit(path, manifest, hooks),
    // A plugin that does not bundle is reported by the visit.
    bundleAndScan(root, entry, adapter).catch(() => undefined),
  ]);
  const problems = [...types.problems];
  if (report.error) {
    const { code, message, at, stack } = report.error;
    const step = code.startsWith("ERR_PLUGIN_BUNDLE") || code === "ERR_PLUGIN_SIZE" ? "bundle" : "register";
    const frame = stack?.slice(stack.indexOf("\n") + 1);
    problems.unshift({ step, message, at, frame, fix: ERRORS[code].fix });
  }
  const permissions = scanned ? requestedOf(manifest, report, scanned) : [];
  return {
    id: report.id,
    name: report.name,
    version: report.version,
    bundleBytes: report.bundle?.bytes,
    loadMs: report.loadMs,
    hooks: report.hooks.map(({ hook, priority }) => ({ hook, priority })),
    permissions,
    unrequested: scanned ? unrequestedPermissionsOf(manifest, scanned.scan, scanned.bundle.builtins) : [],
    types: { isChecked: types.isChecked, by: types.by },
    problems,
    remarks: [...needs, ...report.diagnostics, ...(manifest.permissions ? await oldForm(root, permissions) : [])],
  };
}

/** A hint for permissions that are not written as permission keys. */
async function oldForm(root: string, requested: readonly RequestedPermission[]): Promise<string[]> {
  const text = await readFile(join(root, "creel.plugin.json"), "utf8");
  const { permissions } = JSON.parse(text) as { permissions?: object };
  const newer =
    permissions &&
    requestsByKey(
      permissions,
      requested.filter(({ from }) => from === "manifest"),
    );
  return newer
    ? [`its manifest writes permissions in an older form, which is still read; write "permissions": ${JSON.stringify(newer)}`]
    : [];
}

/** Only what a yes to the whole review grants; what the code seems to need is in `unrequested`. */
function requestedOf(
  manifest: PluginManifest,
  report: PluginReport,
  { scan, bundle }: Awaited<ReturnType<typeof bundleAndScan>>,
): RequestedPermission[] {
  const names = report.hooks.map(({ hook }) => hook);
  return requestedPermissionsOf(manifest, names, scan, bundle.builtins).filter(({ from }) => from !== "scan");
}

/** As `creel install` tries it: a plugin that throws for want of configuration is tried with sample values. */
async function configuredVisit(
  path: string,
  manifest: PluginManifest,
  hooks: PluginHooksConfig,
): Promise<{ report: PluginReport; needs: string[] }> {
  const report = await visit(path, manifest.id, hooks, {});
  if (report.error?.code !== "ERR_PLUGIN_LOAD") return { report, needs: [] };
  for (const config of sampleConfigs(configSchemaOf(manifest), {})) {
    const next = await visit(path, manifest.id, hooks, config);
    if (!next.error) return { report: next, needs: [needsWords(manifest.id, report.error.message)] };
  }
  return { report, needs: [] };
}

async function visit(path: string, id: string, hooks: PluginHooksConfig, config: Record<string, unknown>): Promise<PluginReport> {
  await using host = await openHost({
    lanes: 1,
    allowFailed: true,
    logger: silentLogger,
    config: { sandbox: { spare: false } },
    plugins: [{ path, hooks, config }],
  });
  return host.inspect(id);
}

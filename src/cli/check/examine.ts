/** What `creel check` finds out about a plugin: whether it bundles, whether its types fit the sandbox's world, what it registers there. */
import { openHost } from "../../sdk/gateway.ts";
import type { PluginReport } from "../../host/inspect.ts";
import { findPlugin } from "../../host/manifest.ts";
import { ERRORS } from "../../protocol/errors.ts";
import { checkTypes } from "./types.ts";
import type { TypesWanted } from "./types.ts";

export interface Problem {
  readonly step: "bundle" | "types" | "register";
  readonly message: string;
  /** File, line and column, relative to the plugin's folder. */
  readonly at: string | undefined;
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
  /** It runs; what it registered was not all accepted, or it asked for what is not there. */
  readonly remarks: readonly string[];
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export async function examine(path: string, wanted: TypesWanted): Promise<Findings> {
  const { root, entry, manifest } = await findPlugin(path);
  // What was not granted is what this is to find out: the sandbox has no grants, and conversation hooks may register.
  const hooks = { allowConversationAccess: true };
  const [types, report] = await Promise.all([checkTypes(root, entry, wanted), visit(path, manifest.id, hooks)]);
  const problems = [...types.problems];
  if (report.error) {
    const { code, message, at } = report.error;
    const step = code.startsWith("ERR_PLUGIN_BUNDLE") || code === "ERR_PLUGIN_SIZE" ? "bundle" : "register";
    problems.unshift({ step, message, at, fix: ERRORS[code].fix });
  }
  return {
    id: report.id,
    name: report.name,
    version: report.version,
    bundleBytes: report.bundle?.bytes,
    loadMs: report.loadMs,
    hooks: report.hooks.map(({ hook, priority }) => ({ hook, priority })),
    types: { isChecked: types.isChecked, by: types.by },
    problems,
    remarks: report.diagnostics,
  };
}

async function visit(path: string, id: string, hooks: { allowConversationAccess: boolean }): Promise<PluginReport> {
  await using host = await openHost({ lanes: 1, logger: silent, config: { sandbox: { spare: false } }, plugins: [{ path, hooks }] });
  return host.inspect(id);
}

/**
 * Moves plugins of an OpenClaw gateway into Creel's sandbox, and back. The order of the steps keeps the gateway safe at
 * each of them: the native plugin serves until OpenClaw's configuration names the shim, and that is one change which
 * OpenClaw makes itself.
 */
import { install } from "../../install/install.ts";
import type { InstallOptions, InstallResult } from "../../install/install.ts";
import type { Review } from "../../install/review/review.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import { policyOf, unclosable } from "../../openclaw/closed-hook.ts";
import { pruneShims, retireShim, shimFolder, shimIn, writeShim } from "../../openclaw/shim-files.ts";
import type { Project } from "../plugins/project.ts";
import { currentUser } from "../plugins/project.ts";
import { folderDigest } from "./candidates.ts";
import type { Candidate } from "./candidates.ts";
import type { GatewayCommand } from "./gateway-command.ts";
import { gatewaySettings } from "./settings.ts";
import { shimOf } from "./shim-of.ts";

export interface Moving {
  readonly gateway: GatewayCommand;
  readonly project: Project;
  readonly decide: InstallOptions["decide"];
  readonly progress?: InstallOptions["progress"];
  readonly isDryRun: boolean;
  /** What OpenClaw has. */
  readonly plugins: readonly Candidate[];
}

export interface Moved {
  readonly id: string;
  /** `planned`: a dry run. `moved`: once `load` has named its shim to OpenClaw. */
  readonly outcome: "moved" | "planned" | "refused";
  readonly install: InstallResult;
  /** What the operator set, or the plugin registers, that has no effect in the sandbox. */
  readonly lost: readonly string[];
  /** Written and whole. Undefined: it is not to be moved. */
  readonly shimDir?: string;
}

/**
 * Everything but the change of OpenClaw's configuration: until `load`, the gateway does not know of it. `plugin`: one
 * that OpenClaw has, or the source of a plugin or of another version of it. Rejects when it cannot run in the sandbox.
 */
export async function prepare(plugin: Candidate | string, moving: Moving): Promise<Moved> {
  const { gateway, project, decide, progress, isDryRun, plugins } = moving;
  const [id, source] = typeof plugin === "string" ? [undefined, plugin] : [plugin.id, plugin.dir];
  if (source === undefined) throw new CreelError("ERR_OPENCLAW_PLUGIN", { plugin: id!, detail: "its native folder is not known" });
  if (typeof plugin !== "string") await expectMovable(plugin, moving);
  const known = id === undefined ? { config: project.config, lost: [] } : await gatewaySettings(gateway, id, project.config);
  const result = await install(source, {
    ...project,
    config: known.config,
    by: currentUser(),
    progress,
    decide: isDryRun ? async () => ({ isAccepted: false }) : decide,
    ...(id !== undefined && { expected: id }),
  });
  const { review, outcome } = result;
  const moved = { id: review.id, install: result, lost: [...known.lost, ...passedOver(review, known.config)] };
  if (isDryRun) return { ...moved, outcome: "planned" };
  if (outcome === "refused") return { ...moved, outcome: "refused" };
  const native = plugins.find((one) => one.id === review.id);
  if (native && native !== plugin) await expectMovable(native, moving);
  const { config } = id === undefined ? await gatewaySettings(gateway, review.id, project.config) : known;
  const digest = native?.dir === undefined ? undefined : folderDigest(native.dir);
  const { files } = await shimOf(project, review.id, config, digest === undefined ? undefined : { dir: native!.dir!, digest });
  const shimDir = shimFolder(project.state.dir, review.id, files);
  writeShim(shimDir, files);
  return { ...moved, outcome: "moved", shimDir };
}

/** Hooks of a required plugin at which OpenClaw goes on all the same. */
function passedOver({ id, hooks, permissions }: Review, { plugins, hooks: policies }: CreelConfig): string[] {
  const isRequired = plugins?.entries?.[id]?.required ?? permissions.some(({ key }) => key === "required");
  const known = hooks.map(({ hook }) => ({ hook, failure: policyOf(hook, isRequired, policies?.failure?.[hook]) }));
  return unclosable(known).map((hook) => `OpenClaw goes on when ${hook} fails, although nothing may pass it`);
}

/** Throws when OpenClaw would lose what only the native plugin can do. */
async function expectMovable({ id }: Candidate, { gateway }: Moving): Promise<void> {
  const { slots = {} } = await gateway.settings();
  const slot = Object.keys(slots).find((name) => slots[name] === id);
  if (slot !== undefined) throw new CreelError("ERR_OPENCLAW_SLOT", { plugin: id, slot });
}

/** From here on OpenClaw loads the shims. One change for all of them: a running gateway reloads once. */
export async function load(moved: readonly Moved[], stateDir: string, gateway: GatewayCommand): Promise<void> {
  const shims = moved.flatMap(({ id, shimDir }) => (shimDir === undefined ? [] : [{ id, shimDir }]));
  if (shims.length === 0) return;
  const paths = await gateway.loadPaths();
  const old = new Set(shims.map(({ id }) => shimIn(paths, stateDir, id)));
  const wanted = [...paths.filter((path) => !old.has(path)), ...new Set(shims.map(({ shimDir }) => shimDir))];
  if (wanted.toSorted().join("\n") !== paths.toSorted().join("\n")) await gateway.setLoadPaths(wanted);
  for (const { id, shimDir } of shims) pruneShims(stateDir, id, shimDir);
}

/**
 * The native plugins are still installed: OpenClaw loads them again as soon as its configuration does not name the shims.
 */
export async function back(plugins: readonly Candidate[], gateway: GatewayCommand): Promise<void> {
  const native = plugins.find(({ shimDir }) => shimDir === undefined);
  if (native) throw new CreelError("ERR_OPENCLAW_PLUGIN", { plugin: native.id, detail: "it is not sandboxed" });
  if (plugins.length === 0) return;
  const shims = new Set(plugins.map(({ shimDir }) => shimDir!));
  for (const dir of shims) retireShim(dir);
  const paths = await gateway.loadPaths();
  // The folders stay for a while: a gateway that reloads still looks at them.
  await gateway.setLoadPaths(paths.filter((path) => !shims.has(path)));
}

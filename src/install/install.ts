/**
 * Trusted side: installs a plugin, step by step: fetch, verify, unpack, bundle, scan, dry run without grants, review,
 * decision of the operator, decision of the install guards, and one transaction of the state. An error or a kill before
 * that transaction changes nothing. SECURITY: test/install/install.test.ts
 */
import { oneLine } from "../text/one-line.ts";
import type { CreelConfig } from "../protocol/config/config.ts";
import { CreelError } from "../protocol/errors.ts";
import type { LockEntry, PluginFacts } from "../state/lock.ts";
import type { State } from "../state/state.ts";
import { isSameBytes, examine } from "./review/examine.ts";
import type { Examined, Seen } from "./review/examine.ts";
import { acceptedBy, isCovered } from "./review/permission-keys.ts";
import type { Accepted } from "./review/permission-keys.ts";
import { fetchPlugin } from "./fetch/fetch.ts";
import type { FetchStep } from "./fetch/fetch.ts";
import { askInstallGuards, unaskedInstallGuards } from "./install-guards.ts";
import type { InstallGuardFinding } from "./install-guards.ts";
import { REVIEW, reviewDigest, severities } from "./review/review.ts";
import type { Change, Review, ReviewPermission } from "./review/review.ts";
import { parseSource } from "./fetch/source.ts";
import type { Source } from "./fetch/source.ts";

export type InstallStep =
  | FetchStep
  | { readonly step: "manifest" | "bundle" | "scan" | "register" | "review" | "activate"; readonly what: string }
  | { readonly step: "before_install"; readonly what: string };

/** `keys` are the granted permission keys, from the review or beyond it. */
export type Decision =
  | {
      readonly isAccepted: true;
      readonly keys: ReadonlySet<string>;
      /** If it is not the user who runs the command. */ readonly by?: string;
    }
  | { readonly isAccepted: false };

export interface InstallOptions {
  readonly state: State;
  readonly config: CreelConfig;
  /** The creel.json, also one that is not there yet. */
  readonly configFile?: string | undefined;
  /** Base of the relative paths in the configuration. */
  readonly base: string;
  readonly isolation?: "process" | "thread";
  /** The user who decides. */
  readonly by: string;
  readonly decide: (review: Review, digest: string, seen: Seen) => Promise<Decision>;
  readonly progress?: ((step: InstallStep) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For npm, beside the operator's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long the plugin is watched after it has registered. */
  readonly watchMs?: number;
  /** For an update: the only id that is accepted. */
  readonly expected?: string;
}

export interface InstallResult {
  /** `unchanged`: it is already installed. `restored`: the same, and changed or missing files were restored. */
  readonly outcome: "installed" | "refused" | "unchanged" | "restored";
  readonly review: Review;
  readonly digest: string;
  readonly entry: LockEntry | undefined;
  readonly guards: readonly string[];
  /** Plugins that listen to `before_install` but have no permission to decide. */
  readonly notAsked: readonly string[];
  /** Findings of the install guards. */
  readonly findings: readonly InstallGuardFinding[];
}

export async function install(text: string, options: InstallOptions): Promise<InstallResult> {
  const { state, progress, signal } = options;
  const source = await parseSource(text);
  using workspace = await state.workspace({ what: `creel install ${text}` });
  const fetched = await fetchPlugin(source, workspace.path, {
    progress,
    signal,
    without: operatorsOwn(options),
    ...(options.env && { env: options.env }),
  });
  const examined = await examine(source, fetched, options);
  const { review, before } = examined;
  const digest = reviewDigest(review);
  const result = { review, digest, entry: before, guards: [], notAsked: [], findings: [] };
  if (before && isSame(before, review)) {
    if (!examined.fault) return { ...result, outcome: "unchanged" };
    return { ...result, outcome: "restored", entry: await restore(examined, before, options) };
  }
  signal?.throwIfAborted();
  progress?.({ step: "review", what: review.id });
  const decision = await options.decide(review, digest, examined.seen);
  if (!decision.isAccepted) return { ...result, outcome: "refused" };
  const known = review.permissions.map(({ key }) => key);
  const accepted = acceptedBy(decision.keys, known);
  progress?.({ step: "before_install", what: review.id });
  const installed = await state.read();
  const { asked, findings } = await askInstallGuards(installEvent(source, review, before), {
    isolation: options.isolation ?? "process",
    config: options.config,
    base: options.base,
    stateDir: state.dir,
    entries: installed.values(),
  });
  signal?.throwIfAborted();
  progress?.({ step: "activate", what: review.id });
  const entry = await activate(examined, digest, accepted, { ...options, by: decision.by ?? options.by });
  return {
    ...result,
    outcome: "installed",
    entry,
    guards: asked,
    notAsked: unaskedInstallGuards(installed.values(), options.config),
    findings,
  };
}

/** These may be inside the author's folder, but are not part of the plugin. */
function operatorsOwn({ state, configFile }: Pick<InstallOptions, "state" | "configFile">): string[] {
  return configFile === undefined ? [state.dir] : [state.dir, configFile];
}

/**
 * Restores the files of an installed plugin from the source in the lock. Undefined: the source has changed. Acceptance,
 * grants and settings stay. SECURITY: test/install/restore.test.ts
 */
export async function restoreInstalled(
  before: LockEntry,
  options: Omit<InstallOptions, "decide" | "expected">,
): Promise<LockEntry | undefined> {
  const { spec, resolved } = before.source;
  // A package by its version, a repository by its commit: there may be a newer one.
  const exact = /^(?:file|https?):/.test(spec) ? spec : spec.startsWith("git:") ? `git:${resolved}` : resolved;
  using workspace = await options.state.workspace({ what: `creel update ${before.id}` });
  const source = await parseSource(exact);
  const { progress, signal, env } = options;
  const fetched = await fetchPlugin(source, workspace.path, { progress, signal, without: operatorsOwn(options), ...(env && { env }) });
  const examined = await examine(source, fetched, { ...options, expected: before.id });
  if (examined.before?.seal !== before.seal || !isSameBytes(before, examined.review)) return undefined;
  return examined.fault ? restore(examined, before, options) : before;
}

const isUsual = ({ from, grant }: ReviewPermission): boolean => from !== "scan" && !("install" in grant);

/**
 * The permission keys that a yes to the whole review grants. Decisions about later installs, and permissions that were
 * not requested, must be granted by name.
 */
export function usualPermissionKeys({ permissions, kept }: Review, before: LockEntry | undefined): Set<string> {
  const usual = permissions.filter((permission) =>
    permission.isNew || !before ? isUsual(permission) : isCovered(permission.grant, before),
  );
  return new Set([...usual.map(({ key }) => key), ...kept]);
}

function isSame(before: LockEntry, review: Review): boolean {
  const { changes, code, source } = review;
  // Of files that were tampered with, the code cannot be compared; their digests can.
  const isAsBefore = ({ sign, what }: Change): boolean => sign === "=" || (what === "code" && code?.isKnown === false);
  return before.source.spec === source.spec && isSameBytes(before, review) && changes.every(isAsBefore);
}

function installEvent(source: Source, review: Review, before: LockEntry | undefined) {
  const { id, scan, name, version, hooks } = review;
  return {
    targetType: "plugin" as const,
    targetName: id,
    // The path in the staging folder means nothing inside a sandbox.
    sourcePath: review.source.resolved,
    sourcePathKind: "directory" as const,
    origin: source.kind,
    request: {
      kind: `plugin-${source.kind === "tarball" ? "archive" : source.kind === "folder" ? "dir" : source.kind}`,
      mode: before ? ("update" as const) : ("install" as const),
      requestedSpecifier: review.source.spec,
    },
    builtinScan: {
      status: "ok" as const,
      scannedFiles: scan.files,
      ...severities(scan),
      findings: scan.findings.map(({ rule, ...finding }) => ({ ruleId: rule, ...finding })),
    },
    plugin: { id, name, version, hooks: hooks.map(({ hook }) => hook), permissions: review.permissions.map(({ key }) => key) },
  };
}

/** Restores files only; the acceptance stays. */
function restore({ files, shownBefore }: Examined, before: LockEntry, { state }: Pick<InstallOptions, "state">): Promise<LockEntry> {
  const { bundle: _, store: __, grantsDigest: ___, seal, ...facts } = before;
  const put = new Map(files);
  if (shownBefore) put.set(REVIEW, shownBefore);
  return state.transaction(
    (tx) => {
      if (tx.get(before.id)?.seal !== seal) throw new CreelError("ERR_INSTALL_RACE", { plugin: before.id });
      return tx.put(facts, put);
    },
    { what: `creel install ${before.id}` },
  );
}

function activate(
  { review, before, files, budgets }: Examined,
  digest: string,
  accepted: Accepted,
  { state, by }: InstallOptions,
): Promise<LockEntry> {
  const { id, name, version, source, hooks, functions } = review;
  const facts: PluginFacts = {
    id,
    name,
    version,
    source,
    hooks: hooks.map(({ hook, priority }) => ({ hook, priority })),
    functions,
    ...accepted,
    budgets,
    accepted: { by: oneLine(by, 256), at: new Date().toISOString(), digest },
    enabled: before?.enabled ?? true,
  };
  return state.transaction(
    (tx) => {
      if (tx.get(id)?.seal !== before?.seal) throw new CreelError("ERR_INSTALL_RACE", { plugin: id });
      return tx.put(facts, files);
    },
    { what: `creel install ${id}` },
  );
}

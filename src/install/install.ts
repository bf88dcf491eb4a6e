/**
 * Trusted side: from what a person typed to a plugin that is installed, step by step: fetched, verified, unpacked, bundled, looked at, rehearsed in a
 * sandbox without grants, shown, decided on by the operator and then by the installed guards, and made part of the state in one step. Whatever
 * goes wrong before that step, and whoever is killed before it, has changed nothing. SECURITY: test/install/install.test.ts
 */
import { basename } from "node:path";
import { bundleAndScan } from "../host/bundle.ts";
import { oneLine } from "../host/guest-error.ts";
import { conditionsOf } from "../host/hook-folder.ts";
import { missingModules } from "../host/missing-modules.ts";
import type { CreelConfig } from "../protocol/config.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { hookSettings } from "../sdk/hook-plugins.ts";
import { bundleFiles } from "../state/bundle-files.ts";
import type { LockEntry, PluginFacts } from "../state/lock.ts";
import { sorted } from "../state/lock.ts";
import type { State } from "../state/state.ts";
import { asksOf } from "./asks.ts";
import { configFaults, configSchemaOf, schemaFindings } from "./config-schema.ts";
import { acceptedBy, isCovered, keysOf } from "./keys.ts";
import type { Accepted } from "./keys.ts";
import { fetchPlugin } from "./fetch.ts";
import type { Fetched, FetchStep } from "./fetch.ts";
import { askGuards } from "./guards.ts";
import type { GuardFinding } from "./guards.ts";
import { readPluginFiles } from "./manifest.ts";
import { packageFindings } from "./package-findings.ts";
import type { InstallFinding } from "./package-findings.ts";
import { checkedInstallId } from "./plugin-id.ts";
import { rehearse } from "./rehearsal.ts";
import { changesOf, REVIEW, review as reviewSchema, reviewDigest, reviewHooks, scanOf, severities } from "./review.ts";
import type { Review } from "./review.ts";
import { parseSource } from "./source.ts";
import type { Source } from "./source.ts";

export type InstallStep =
  | FetchStep
  | { readonly step: "manifest" | "bundle" | "scan" | "register" | "review" | "activate"; readonly what: string }
  | { readonly step: "before_install"; readonly what: string };

/** What is granted, by key: of what the review lists, or beyond it. */
export type Decision = { readonly isAccepted: true; readonly keys: ReadonlySet<string> } | { readonly isAccepted: false };

export interface InstallOptions {
  readonly state: State;
  readonly config: CreelConfig;
  /** What paths of the configuration are relative to. */
  readonly base: string;
  readonly isolation?: "process" | "thread";
  /** Who decides. */
  readonly by: string;
  readonly decide: (review: Review, digest: string) => Promise<Decision>;
  readonly progress?: ((step: InstallStep) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For npm, beside the operator's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long the plugin is watched after it has registered. */
  readonly watchMs?: number;
  /** Update: this plugin and no other. */
  readonly expected?: string;
}

export interface InstallResult {
  /** `unchanged`: what is there is what is installed. */
  readonly outcome: "installed" | "refused" | "unchanged";
  readonly review: Review;
  readonly digest: string;
  readonly entry: LockEntry | undefined;
  readonly guards: readonly string[];
  /** What the guards added to the scan. */
  readonly findings: readonly GuardFinding[];
}

export async function install(text: string, options: InstallOptions): Promise<InstallResult> {
  const { state, progress, signal } = options;
  const source = await parseSource(text);
  using workspace = await state.workspace({ what: `creel install ${text}` });
  const fetched = await fetchPlugin(source, workspace.path, {
    progress,
    signal,
    without: state.dir,
    ...(options.env && { env: options.env }),
  });
  const looked = await look(source, fetched, options);
  const { review, before } = looked;
  const digest = reviewDigest(review);
  const result = { review, digest, entry: before, guards: [], findings: [] };
  if (before && isSame(before, review)) return { ...result, outcome: "unchanged" };
  signal?.throwIfAborted();
  progress?.({ step: "review", what: review.id });
  const decision = await options.decide(review, digest);
  if (!decision.isAccepted) return { ...result, outcome: "refused" };
  const known = review.permissions.map(({ key }) => key);
  const accepted = acceptedBy(decision.keys, known);
  progress?.({ step: "before_install", what: review.id });
  const { asked, findings } = await askGuards(installEvent(source, review, before), {
    isolation: options.isolation ?? "process",
    config: options.config,
    base: options.base,
    stateDir: state.dir,
    entries: (await state.read()).values(),
  });
  signal?.throwIfAborted();
  progress?.({ step: "activate", what: review.id });
  const entry = await activate(looked, digest, accepted, options);
  return { ...result, outcome: "installed", entry, guards: asked, findings };
}

interface Looked {
  readonly review: Review;
  readonly before: LockEntry | undefined;
  readonly files: Map<string, Uint8Array>;
  readonly budgets: PluginFacts["budgets"];
}

/** Everything that can be known without asking anybody. */
async function look(source: Source, fetched: Fetched, options: InstallOptions): Promise<Looked> {
  const { state, config, progress } = options;
  progress?.({ step: "manifest", what: fetched.resolved });
  const {
    entry,
    adapter,
    manifest,
    hook: hookFolder,
  } = await readPluginFiles(fetched, "path" in source ? basename(source.path) : undefined);
  const id = checkedInstallId(manifest.id);
  if (options.expected !== undefined && id !== options.expected)
    throw new CreelError("ERR_INSTALL_ID", { plugin: id, detail: `it takes the place of "${options.expected}", and must have its id` });
  progress?.({ step: "bundle", what: id });
  const { bundle, scan } = await bundleAndScan(fetched.root, entry, adapter);
  progress?.({ step: "scan", what: `${scan.files} file${scan.files === 1 ? "" : "s"}` });
  const [missing] = missingModules(bundle.builtins);
  if (missing !== undefined) throw new CreelError("ERR_INSTALL_REGISTER", { plugin: id, detail: missing });
  const settings = config.plugins?.entries?.[id]?.config ?? {};
  const schema = configSchemaOf(manifest);
  const unfitHook = hookFolder && hookSettings(hookFolder, config).off;
  const unfit = configFaults({ id, schema, config: settings }).map(({ message }) => message);
  progress?.({ step: "register", what: id });
  const { report, log, refused } = await rehearse(manifest, bundle, {
    isolation: options.isolation ?? "process",
    sandbox: config.sandbox,
    config: settings,
    watchMs: options.watchMs ?? LIMITS.rehearsalMs,
  });
  if (report.error) {
    const tried = refused.length > 0 ? `; it tried: ${refused.join("; ")}` : "";
    // It may be for want of it.
    const wants = unfit.length > 0 ? `; ${unfit.join("; ")}` : "";
    throw new CreelError("ERR_INSTALL_REGISTER", { plugin: id, detail: oneLine(`${report.error.message}${tried}${wants}`) });
  }
  const installed = await state.read();
  const before = installed.get(id);
  const asks = asksOf(
    manifest.permissions,
    report.hooks.map(({ hook }) => hook),
    scan,
    bundle.builtins,
  );
  const shownBefore = await reviewOf(state, before);
  const askedBefore = new Set(shownBefore?.permissions.map(({ key }) => key));
  const isNew = (ask: (typeof asks)[number]): boolean => !before || !(isCovered(ask.grant, before) || askedBefore.has(ask.key));
  const others = [...installed.values()].filter((other) => other.id !== id);
  const shown: Review = {
    id,
    name: oneLine(manifest.name ?? id, LIMITS.nameChars),
    version: (manifest.version ?? report.version) && oneLine((manifest.version ?? report.version)!, 64),
    description: manifest.description && oneLine(manifest.description, 300),
    source: { spec: specOf(source), resolved: oneLine(fetched.resolved, 4_096), integrity: fetched.integrity },
    bundle: { integrity: bundle.digest, bytes: bundle.bytes },
    fetchedBytes: fetched.bytes,
    dependencies: fetched.dependencies.map(({ name, version }) => oneLine(`${name}@${version}`, 300)).toSorted(),
    hooks: reviewHooks(report.hooks),
    functions: report.functions.map(({ kind, name }) => ({ kind, name: oneLine(name, LIMITS.nameChars) })),
    permissions: asks.map((ask) => ({ ...ask, reason: ask.reason && oneLine(ask.reason, 300), isNew: isNew(ask) })),
    kept: before && shownBefore ? keysOf(before).filter((key) => !askedBefore.has(key)) : [],
    scan: scanOf(scan, [
      ...(before ? otherSource(source, before) : []),
      ...schemaFindings(schema, fetched.root),
      ...packageFindings(id, fetched, others, bundle.builtins),
    ]),
    remarks: [...report.diagnostics.map((remark) => oneLine(remark)), ...unfit, ...(unfitHook === undefined ? [] : [oneLine(unfitHook)])],
    tried: { log: [...log], refused: [...refused] },
    changes: [],
  };
  const review = before ? { ...shown, changes: changesOf(shown, before, keysOf(before)) } : shown;
  // Whatever an author calls so is not that.
  const files = bundleFiles(bundle, { ...manifest, hook: hookFolder && conditionsOf(hookFolder) });
  files.set(REVIEW, Buffer.from(`${JSON.stringify(sorted(review), undefined, 2)}\n`));
  const budgets = {
    plugin: report.budget,
    hooks: Object.fromEntries(report.hooks.map(({ hook, budget }) => [hook, budget])),
  };
  return { review, before, files, budgets };
}

/** What was shown when the plugin was accepted, if it can be read. */
export async function reviewOf(state: State, entry: LockEntry | undefined): Promise<Review | undefined> {
  if (!entry) return undefined;
  const loaded = await state.load(entry.id).catch(() => undefined);
  const text = loaded?.files.get(REVIEW)?.toString();
  return text === undefined ? undefined : reviewSchema.safeParse(JSON.parse(text)).data;
}

/** The keys that are granted when somebody says yes to all that was asked, and to nothing that was not. */
export function usualKeys({ permissions, kept }: Review, before: LockEntry | undefined): Set<string> {
  const usual = permissions.filter((ask) => (ask.isNew || !before ? ask.from !== "scan" : isCovered(ask.grant, before)));
  return new Set([...usual.map(({ key }) => key), ...kept]);
}

function isSame(before: LockEntry, { source, bundle, changes }: Review): boolean {
  return (
    before.source.integrity === source.integrity &&
    before.source.spec === source.spec &&
    before.bundle.integrity === bundle.integrity &&
    changes.every(({ sign }) => sign === "=")
  );
}

/** SECURITY: whoever takes over an id takes over what was granted to it. test/install/install.test.ts */
function otherSource(source: Source, before: LockEntry): InstallFinding[] {
  const [now, then] = [specOf(source), before.source.spec].map(withoutVersion);
  if (now === then) return [];
  const message = `it takes the place of "${before.id}", which was installed from ${oneLine(before.source.spec, 160)}: it may be somebody else's`;
  return [{ rule: "other-source", severity: "critical", file: "package.json", line: 1, message }];
}

/** A source, whichever version of it. */
export function withoutVersion(spec: string): string {
  return spec.startsWith("git:") ? spec.replace(/#.*$/s, "") : spec.replace(/^((?!file:)@?[^@]+)@.*$/s, "$1");
}

/** What finds it again, from wherever. */
function specOf(source: Source): string {
  switch (source.kind) {
    case "npm":
      return source.spec;
    case "git":
      return `git:${source.url}${source.ref === undefined ? "" : `#${source.ref}`}`;
    default:
      return `file:${source.path}`;
  }
}

function installEvent(source: Source, review: Review, before: LockEntry | undefined) {
  const { id, scan, name, version, hooks } = review;
  return {
    targetType: "plugin" as const,
    targetName: id,
    // Where it lies on this machine is nobody's business in a sandbox: it could not look there.
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

function activate(
  { review, before, files, budgets }: Looked,
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

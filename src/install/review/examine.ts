/**
 * Trusted side: examines a fetched plugin without asking the operator: its bundle, the scan, the dry run, the
 * permissions it requests, how it differs from the installed version, and what the update policy says.
 */
import { basename, dirname, join } from "node:path";
import { bundleAndScan } from "../../bundler/bundle.ts";
import type { PluginBundle } from "../../bundler/bundle.ts";
import { oneLine } from "../../text/one-line.ts";
import { conditionsOf } from "../../discovery/hook-folder.ts";
import { missingModules } from "../../bundler/missing-modules.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { hookSettings } from "../../discovery/hook-plugins.ts";
import { bundleFiles, OWN } from "../../state/bundle-files.ts";
import type { LockEntry, PluginFacts } from "../../state/lock.ts";
import { sorted } from "../../state/lock.ts";
import type { State } from "../../state/state.ts";
import { BUNDLE, MAP } from "../../state/transaction.ts";
import { requestedPermissionsOf } from "./requested-permissions.ts";
import { comparedCode } from "./code-diff.ts";
import type { CodeTexts } from "./code-diff.ts";
import { configFaults, configSchemaOf, schemaFindings } from "../manifest/config-schema.ts";
import { isCovered, permissionKeysOf } from "./permission-keys.ts";
import type { Fetched } from "../fetch/fetch.ts";
import { readPluginFiles } from "../manifest/manifest.ts";
import { announced } from "../fetch/npm.ts";
import { isPacked, readPacked } from "../pack/packed-plugin.ts";
import { packageFindings } from "../manifest/package-findings.ts";
import type { InstallFinding } from "../manifest/package-findings.ts";
import { checkedInstallId } from "../manifest/plugin-id.ts";
import { configuredRun } from "./dry-run.ts";
import { changesOf, REVIEW, review as reviewSchema, reviewHooks, scanOf } from "./review.ts";
import type { Review } from "./review.ts";
import { SIGNATURE, signedBy } from "../manifest/signature.ts";
import type { Signed } from "../manifest/signature.ts";
import type { Source } from "../fetch/source.ts";
import { policyDecision } from "./update-decision.ts";
import type { PolicyDecision } from "./update-decision.ts";
import type { InstallStep } from "../install.ts";

/** The inputs of `examine`. */
export interface ExamineOptions {
  readonly state: State;
  readonly config: CreelConfig;
  readonly isolation?: "process" | "thread";
  readonly progress?: ((step: InstallStep) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly watchMs?: number;
  readonly expected?: string;
}

/** What is known of an update beside its review, for the decision. */
export interface Seen {
  readonly before: LockEntry | undefined;
  /** The decision of the operator's update policy. */
  readonly policy: PolicyDecision;
  /** The difference of the code as lines for a terminal. */
  readonly diff: () => string[];
  /** The code that was reviewed. */
  readonly bundle: PluginBundle;
}

export interface Examined {
  readonly review: Review;
  readonly before: LockEntry | undefined;
  /** The fault of the installed files. */
  readonly fault: CreelError | undefined;
  /** The review that the operator saw, if it is still there. */
  readonly shownBefore: Buffer | undefined;
  readonly seen: Seen;
  readonly files: Map<string, Uint8Array>;
  readonly budgets: PluginFacts["budgets"];
}

/** Everything that is known without asking the operator. */
export async function examine(source: Source, fetched: Fetched, options: ExamineOptions): Promise<Examined> {
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
    throw new CreelError("ERR_INSTALL_ID", { plugin: id, detail: `it replaces "${options.expected}" and must have the same id` });
  const isBuilt = isPacked(manifest);
  if (!isBuilt) progress?.({ step: "bundle", what: id });
  // SECURITY: a packed bundle runs as it was shipped, and is scanned all the same. test/install/pack/packed-plugin.test.ts
  const { bundle, scan } = isBuilt ? await readPacked(fetched, manifest) : await bundleAndScan(fetched.root, entry, adapter);
  progress?.({ step: "scan", what: `${scan.files} file${scan.files === 1 ? "" : "s"}` });
  const isStrict = config.plugins?.entries?.[id]?.strict ?? config.plugins?.strict ?? false;
  const [missing] = isStrict ? missingModules(bundle.builtins) : [];
  if (missing !== undefined) throw new CreelError("ERR_INSTALL_REGISTER", { plugin: id, detail: missing });
  const settings = config.plugins?.entries?.[id]?.config ?? {};
  const schema = configSchemaOf(manifest);
  const unfitHook = hookFolder && hookSettings(hookFolder, config).off;
  const unfit = (await configFaults({ id, schema, config: settings })).map(({ message }) => message);
  progress?.({ step: "register", what: id });
  const { report, log, refused, needsConfiguration } = await configuredRun(
    manifest,
    bundle,
    {
      isolation: options.isolation ?? "process",
      sandbox: config.sandbox,
      config: settings,
      watchMs: options.watchMs ?? LIMITS.install.dryRunMs,
    },
    schema,
  );
  if (report.error) {
    const tried = refused.length > 0 ? `; it tried: ${refused.join("; ")}` : "";
    // Its configuration may be the reason why it failed.
    const wants = unfit.length > 0 ? `; ${unfit.join("; ")}` : "";
    throw new CreelError("ERR_INSTALL_REGISTER", { plugin: id, detail: oneLine(`${report.error.message}${tried}${wants}`) });
  }
  const installed = await state.read();
  const before = installed.get(id);
  const requested = requestedPermissionsOf(
    manifest,
    report.hooks.map(({ hook }) => hook),
    scan,
    bundle.builtins,
  );
  const { files: stored, fault } = before ? await state.examine(before) : { files: new Map<string, Buffer>(), fault: undefined };
  const shownBefore = parsedReview(stored.get(REVIEW));
  const isSameCode = before && isSameBytes(before, { source: fetched, bundle: { integrity: bundle.digest } });
  // The same bytes request the same; the earlier review may not be readable any more.
  const askedBefore = new Set((shownBefore?.permissions ?? (isSameCode ? requested : [])).map(({ key }) => key));
  const isNew = (permission: (typeof requested)[number]): boolean =>
    !before || !(isCovered(permission.grant, before) || askedBefore.has(permission.key));
  const others = [...installed.values()].filter((other) => other.id !== id);
  const signed = await signedBy(fetched.root, fetched.files);
  const code = before && comparedCode(textsOf(stored), bundleTexts(bundle), { from: before.bundle.integrity, to: bundle.digest });
  const shown: Review = {
    id,
    name: oneLine(manifest.name ?? id, LIMITS.call.nameChars),
    version: (manifest.version ?? report.version) && oneLine((manifest.version ?? report.version)!, 64),
    description: manifest.description && oneLine(manifest.description, 300),
    source: { spec: specOf(source), resolved: oneLine(fetched.resolved, 4_096), integrity: fetched.integrity },
    bundle: { integrity: bundle.digest, bytes: bundle.bytes },
    fetchedBytes: fetched.bytes,
    dependencies: fetched.dependencies.map(({ name, version }) => oneLine(`${name}@${version}`, 300)).toSorted(),
    hooks: reviewHooks(report.hooks, { isRequired: config.plugins?.entries?.[id]?.required, failure: config.hooks?.failure }),
    functions: report.functions.map(({ kind, name }) => ({ kind, name: oneLine(name, LIMITS.call.nameChars) })),
    permissions: requested.map((permission) => ({
      ...permission,
      reason: permission.reason && oneLine(permission.reason, 300),
      isNew: isNew(permission),
    })),
    kept: before && (shownBefore ?? isSameCode) ? permissionKeysOf(before).filter((key) => !askedBefore.has(key)) : [],
    scan: scanOf(scan, [
      ...(before ? otherSource(source, before) : []),
      ...schemaFindings(schema, fetched.root),
      ...packageFindings(id, fetched, others, bundle.builtins),
      ...signatureFindings(signed, config.update?.signedBy),
    ]),
    ...(code && { code: code.change }),
    remarks: [
      ...(needsConfiguration === undefined ? [] : [needsWords(id, needsConfiguration)]),
      ...report.diagnostics.map((remark) => oneLine(remark)),
      ...unfit,
      ...(unfitHook === undefined ? [] : [oneLine(unfitHook)]),
    ].concat(fault && !isSameCode ? [`the installed files were tampered with: ${oneLine(fault.message, 300)}`] : []),
    tried: { log: [...log], refused: [...refused] },
    changes: [],
  };
  const review = before ? { ...shown, changes: changesOf(shown, before, permissionKeysOf(before)) } : shown;
  // Written last, so that it replaces a file of that name from the author.
  const files = bundleFiles(bundle, { ...manifest, hook: hookFolder && conditionsOf(hookFolder) });
  files.set(REVIEW, Buffer.from(`${JSON.stringify(sorted(review), undefined, 2)}\n`));
  const budgets = {
    plugin: report.budget,
    hooks: Object.fromEntries(report.hooks.map(({ hook, budget }) => [hook, budget])),
  };
  const policy = policyDecision(config.update, {
    review,
    accepted: shownBefore,
    publishedAt: fetched.announced?.publishedAt,
    areDependenciesOld: before !== undefined && (await areOld(fetched, shownBefore, options)),
    signed,
    nowMs: Date.now(),
  });
  const seen = { before, policy, diff: () => code?.text() ?? [], bundle };
  return { review, before, fault, shownBefore: stored.get(REVIEW), seen, files, budgets };
}

/** Also for `creel check`. */
export function needsWords(id: string, why: string): string {
  return oneLine(
    `it needs configuration, and does not load before plugins.entries.${id}.config has it (what it registers was seen with sample values): ${why}`,
    600,
  );
}

/** The accepted review, if it can be read. */
function parsedReview(file: Buffer | undefined): Review | undefined {
  return file && reviewSchema.safeParse(JSON.parse(file.toString())).data;
}

function textsOf(stored: ReadonlyMap<string, Buffer>): CodeTexts | undefined {
  const [bundle, map, own] = [BUNDLE, MAP, OWN].map((name) => stored.get(name)?.toString());
  return bundle === undefined || map === undefined || own === undefined ? undefined : { bundle, map, own };
}

const bundleTexts = ({ code, map, own }: PluginBundle): CodeTexts => ({ bundle: code, map, own });

/** With `minAgeDays`: were all new dependencies published that long ago? No, if the registry does not say. */
async function areOld(fetched: Fetched, accepted: Review | undefined, { config, env, signal }: ExamineOptions): Promise<boolean> {
  const { auto, minAgeDays } = config.update ?? {};
  if (auto !== "same-permissions" || minAgeDays === undefined) return true;
  const known = new Set(accepted?.dependencies);
  const latestMs = Date.now() - minAgeDays * 24 * 3_600_000;
  // Not the package's own folder: npm would read its settings.
  const cwd = join(dirname(fetched.root), "archives");
  for (const { name, version } of fetched.dependencies) {
    if (known.has(`${name}@${version}`)) continue;
    const { publishedAt } = await announced({ name, version }, cwd, { signal, ...(env && { env }) });
    if (publishedAt === undefined || publishedAt.getTime() > latestMs) return false;
  }
  return true;
}

function signatureFinding(severity: InstallFinding["severity"], message: string): InstallFinding[] {
  return [{ rule: "signature", severity, file: SIGNATURE, line: 1, message }];
}

function signatureFindings(signed: Signed, keys: readonly string[] | undefined): InstallFinding[] {
  if (signed.state === "bad") return signatureFinding("critical", "its signature does not match its files");
  if (signed.state === "none") return keys ? signatureFinding("warn", "it is not signed, but update.signedBy requires a signature") : [];
  const isKnown = keys?.includes(signed.key) ?? false;
  return signatureFinding(
    isKnown || !keys ? "info" : "warn",
    `it is signed by ${signed.key}, which update.signedBy ${isKnown ? "names" : "does not name"}`,
  );
}

interface Bytes {
  readonly source: { readonly integrity: string };
  readonly bundle: { readonly integrity: string };
}

export function isSameBytes(before: LockEntry, { source, bundle }: Bytes): boolean {
  return before.source.integrity === source.integrity && before.bundle.integrity === bundle.integrity;
}

/** SECURITY: a plugin with the same id gets what was granted to that id. test/install/install.test.ts */
function otherSource(source: Source, before: LockEntry): InstallFinding[] {
  const [now, then] = [specOf(source), before.source.spec].map(withoutVersion);
  if (now === then) return [];
  const message = `it replaces "${before.id}", which was installed from ${oneLine(before.source.spec, 160)}: it may have another author`;
  return [{ rule: "other-source", severity: "critical", file: "package.json", line: 1, message }];
}

/** A source, whichever version of it. */
export function withoutVersion(spec: string): string {
  return spec.startsWith("git:") ? spec.replace(/#.*$/s, "") : spec.replace(/^((?!file:)@?[^@]+)@.*$/s, "$1");
}

/** The spec that finds the source again, from any folder. */
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

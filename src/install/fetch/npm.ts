/**
 * Runs the operator's npm, with their registry, credentials and proxy. npm resolves and downloads; it unpacks nothing,
 * runs no scripts of packages, and follows no address that a package names. SECURITY:
 * test/install/fetch/npm-reach.test.ts
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { oneLine } from "../../text/one-line.ts";
import { CreelError } from "../../protocol/errors.ts";
import { expectRegistrySpecs, isExactPackage } from "./dependency-spec.ts";
import { keptToRegistries, NO_GIT } from "./npm-reach.ts";

export interface NpmOptions {
  readonly signal?: AbortSignal | undefined;
  /** Beside the operator's own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A package that another one needs, where npm would put it. */
export interface Dependency {
  /** Below the folder of the package that is installed, such as `node_modules/a/node_modules/b`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly hasInstallScript: boolean;
  readonly deprecated: string | undefined;
}

/** SECURITY: no scripts of packages, regardless of the operator's settings. test/install/fetch/npm.test.ts */
const ALWAYS = ["--ignore-scripts", "--no-bin-links", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
const ONLY_LOCK = ["--package-lock-only", "--legacy-peer-deps", "--omit=dev", "--omit=optional", "--omit=peer"];
const MANY_BYTES = 64 * 2 ** 20;
/** Packages per command, because command lines have a maximum length. */
const BATCH = 24;

const packed = z.array(z.object({ name: z.string(), version: z.string(), integrity: z.string(), filename: z.string() })).min(1);

const lock = z.object({
  lockfileVersion: z.literal([2, 3]),
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      version: z.string().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      optional: z.boolean().optional(),
      peer: z.boolean().optional(),
      dev: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      deprecated: z.string().optional(),
    }),
  ),
});

export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly path: string;
}

/**
 * Downloads packages as archives, in the order of their specs. The operator may give a URL; a folder is packed as `npm
 * publish` would.
 */
export async function pack(specs: readonly string[], into: string, options: NpmOptions = {}): Promise<Packed[]> {
  await mkdir(into, { recursive: true });
  const made: Packed[] = [];
  for (let at = 0; at < specs.length; at += BATCH) {
    const args = ["pack", "--json", `--git=${NO_GIT}`, "--pack-destination", into, "--", ...specs.slice(at, at + BATCH)];
    const text = await npm(args, into, options);
    for (const { name, version, integrity, filename } of packed.parse(JSON.parse(text)))
      // npm says `@scope/name-1.0.0.tgz` in some versions, and writes `scope-name-1.0.0.tgz`.
      made.push({ name, version, integrity, path: join(into, filename.replace("@", "").replaceAll("/", "-")) });
  }
  return made;
}

/** The version that a spec resolves to today, and its integrity. Writes only npm's cache. */
export async function offeredBy(spec: string, cwd: string, options: NpmOptions = {}): Promise<Omit<Packed, "path">> {
  const text = await npm(["pack", "--json", "--dry-run", `--git=${NO_GIT}`, "--", spec], cwd, options);
  const [{ name, version, integrity }] = packed.parse(JSON.parse(text)) as [z.infer<typeof packed>[number]];
  return { name, version, integrity };
}

/** The registry's metadata of a package. Creel does not verify it. */
export interface Announced {
  readonly deprecated: string | undefined;
  readonly publishedAt: Date | undefined;
  /** The kind of statement about where and how it was built. */
  readonly provenance: string | undefined;
  readonly isSigned: boolean;
}

const announcement = z.object({
  deprecated: z.union([z.string(), z.boolean()]).optional().catch(undefined),
  dist: z
    .object({
      attestations: z
        .object({ provenance: z.object({ predicateType: z.string() }) })
        .optional()
        .catch(undefined),
      signatures: z.array(z.unknown()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  time: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

/** `cwd`: any folder; npm wants one. */
export async function announced(
  { name, version }: Pick<Packed, "name" | "version">,
  cwd: string,
  options: NpmOptions = {},
): Promise<Announced> {
  const text = await npm(["view", "--json", "--", `${name}@${version}`, "version", "deprecated", "dist", "time"], cwd, options);
  // Empty if the registry knows none of these fields.
  const { deprecated, dist, time } = announcement.parse(text.trim() === "" ? {} : JSON.parse(text));
  const published = new Date(String(time?.[version]));
  return {
    deprecated: typeof deprecated === "string" && deprecated !== "" ? deprecated : deprecated === true ? "no reason given" : undefined,
    publishedAt: Number.isNaN(published.getTime()) ? undefined : published,
    provenance: dist?.attestations?.provenance.predicateType,
    isSigned: (dist?.signatures ?? []).length > 0,
  };
}

/**
 * Resolves the dependencies of a package.json to versions with integrity. Downloads nothing. The gateway provides peer
 * dependencies; optional ones are skipped, because they usually are native code.
 */
export async function resolve(
  dependencies: Readonly<Record<string, string>>,
  folder: string,
  options: NpmOptions = {},
): Promise<Dependency[]> {
  if (Object.keys(dependencies).length === 0) return [];
  expectRegistrySpecs("the plugin", dependencies);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  const reach = keptToRegistries(JSON.parse(await npm(["config", "list", "--json"], folder, options)), { ...process.env, ...options.env });
  await npm(["install", ...ONLY_LOCK, ...reach], folder, options);
  const found = lock.safeParse(JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")));
  if (!found.success) throw new CreelError("ERR_INSTALL_NPM", { command: "install", detail: "its lock file has an unknown format" });
  return Object.entries(found.data.packages).flatMap(([path, entry]) => {
    if (path === "" || entry.optional || entry.peer || entry.dev) return [];
    const name = entry.name ?? path.replace(/^.*(?:^|\/)node_modules\//s, "");
    if (entry.link || entry.version === undefined || entry.integrity === undefined || !entry.integrity.startsWith("sha512-"))
      throw new CreelError("ERR_INSTALL_DEPENDENCY", {
        dependency: name,
        detail: "it does not come from a registry, so its integrity is unknown",
      });
    const { version, integrity, hasInstallScript = false, deprecated } = entry;
    if (!isExactPackage({ name, version }))
      throw new CreelError("ERR_INSTALL_SPEC", { owner: "a package", dependency: name, spec: version });
    return [{ path, name, version, integrity, hasInstallScript, deprecated }];
  });
}

function npm(args: readonly string[], cwd: string, { signal, env }: NpmOptions): Promise<string> {
  const isWindows = process.platform === "win32";
  return new Promise((done, fail) => {
    execFile(
      isWindows ? "npm.cmd" : "npm",
      [args[0]!, ...ALWAYS, ...args.slice(1)],
      { cwd, signal, shell: isWindows, maxBuffer: MANY_BYTES, env: { ...process.env, ...env, npm_config_ignore_scripts: "true" } },
      (error, stdout, stderr) => {
        if (!error) return done(stdout);
        if (signal?.aborted) return fail(signal.reason as Error);
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return fail(new CreelError("ERR_INSTALL_NO_NPM"));
        fail(new CreelError("ERR_INSTALL_NPM", { command: args[0]!, detail: complaint(stderr) ?? error.message }));
      },
    );
  });
}

/** The first informative line of npm's error output. */
function complaint(stderr: string): string | undefined {
  const said = stderr
    .split("\n")
    .map((line) => line.replace(/^npm (?:error|ERR!)\s*/, "").trim())
    .find((line) => line !== "" && !/^(?:code|errno|syscall|A complete log)/.test(line));
  // A registry has a say in it.
  return said && oneLine(said, 300);
}

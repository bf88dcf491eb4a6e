/**
 * The operator's own npm, as a process: their registry, their credentials, their proxy. It resolves and downloads; it never unpacks
 * anything here, and runs no script of any package.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { oneLine } from "../host/guest-error.ts";
import { CreelError } from "../protocol/errors.ts";

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

/** SECURITY: no script of any package, whatever the operator's settings say. test/install/npm.test.ts */
const ALWAYS = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
const MANY_BYTES = 64 * 2 ** 20;
/** So many packages in one command: command lines have an end. */
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

/** Downloads packages as archives, in the order of their specs. A folder is packed as `npm publish` would. */
export async function pack(specs: readonly string[], into: string, options: NpmOptions = {}): Promise<Packed[]> {
  await mkdir(into, { recursive: true });
  const made: Packed[] = [];
  for (let at = 0; at < specs.length; at += BATCH) {
    const text = await npm(["pack", "--json", "--pack-destination", into, "--", ...specs.slice(at, at + BATCH)], into, options);
    for (const { name, version, integrity, filename } of packed.parse(JSON.parse(text)))
      // npm says `@scope/name-1.0.0.tgz` in some versions, and writes `scope-name-1.0.0.tgz`.
      made.push({ name, version, integrity, path: join(into, filename.replace("@", "").replaceAll("/", "-")) });
  }
  return made;
}

/** What the registry says about a package, beside its bytes. Nothing of it is verified here but that the registry says so. */
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
  // Nothing, if it knows none of these.
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
 * Which packages the dependencies of a package.json mean today, pinned by integrity. Only asks; downloads nothing. Peers are not resolved: those of a
 * plugin are its gateway's, and optional ones are left out, since they are native code as a rule.
 */
export async function resolve(
  dependencies: Readonly<Record<string, string>>,
  folder: string,
  options: NpmOptions = {},
): Promise<Dependency[]> {
  if (Object.keys(dependencies).length === 0) return [];
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  await npm(["install", "--package-lock-only", "--legacy-peer-deps", "--omit=dev", "--omit=optional", "--omit=peer"], folder, options);
  const found = lock.safeParse(JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")));
  if (!found.success) throw new CreelError("ERR_INSTALL_NPM", { command: "install", detail: "its lock file has a form that is not known" });
  return Object.entries(found.data.packages).flatMap(([path, entry]) => {
    if (path === "" || entry.optional || entry.peer) return [];
    const name = entry.name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    if (entry.link || entry.version === undefined || entry.integrity === undefined || !entry.integrity.startsWith("sha512-"))
      throw new CreelError("ERR_INSTALL_DEPENDENCY", {
        dependency: name,
        detail: "it does not come from a registry, so that nothing says which bytes are meant",
      });
    const { version, integrity, hasInstallScript = false, deprecated } = entry;
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

/** The first line of npm's complaint that says something. */
function complaint(stderr: string): string | undefined {
  const said = stderr
    .split("\n")
    .map((line) => line.replace(/^npm (?:error|ERR!)\s*/, "").trim())
    .find((line) => line !== "" && !/^(?:code|errno|syscall|A complete log)/.test(line));
  // A registry has a say in it.
  return said && oneLine(said, 300);
}

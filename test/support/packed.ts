/**
 * The package as `npm pack` makes it, once for all test files of a tree: built, packed and unpacked below node_modules/.cache, under the digest of
 * everything that goes into it. Its dependencies are this repository's own; test/package/matrix.test.ts has real package managers install it.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { isAlive } from "../../src/os/is-alive.ts";
import { folder, write } from "./files.ts";

const ROOT = join(import.meta.dirname, "../..");
const CACHE = join(ROOT, "node_modules/.cache/creel-packed");
const run = promisify(execFile);

export interface PackedCreel {
  readonly version: string;
  readonly tarball: string;
  /** With the package and what it depends on, nothing else. */
  readonly modules: string;
  /** The unpacked package. */
  readonly root: string;
}

interface Manifest {
  readonly version: string;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
}

let once: Promise<PackedCreel> | undefined;

export function packedCreel(): Promise<PackedCreel> {
  once ??= find();
  return once;
}

/** An empty folder of somebody who has installed Creel. */
export async function appFolder(files: Readonly<Record<string, string>> = {}, where?: string): Promise<string> {
  const root = folder({}, where);
  symlinkSync((await packedCreel()).modules, join(root, "node_modules"));
  write(root, files);
  return root;
}

/** A shell's environment in which `creel` is the packed one, and `node` the one that runs the tests. */
export async function appEnv(more: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  const path = [join((await packedCreel()).modules, ".bin"), dirname(process.execPath), process.env.PATH ?? ""];
  return { HOME: process.env.HOME ?? "", NO_COLOR: "1", ...more, PATH: path.join(delimiter) };
}

async function find(): Promise<PackedCreel> {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
  const made = join(CACHE, digestOf([...BUILT_FROM, ...manifest.files.filter(isDocument).flatMap((name) => [name, `${name}/**/*`])]));
  const lock = `${made}.lock`;
  mkdirSync(CACHE, { recursive: true });
  while (!existsSync(made)) {
    try {
      mkdirSync(lock);
    } catch {
      if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true });
      await new Promise((done) => setTimeout(done, 100));
      continue;
    }
    try {
      writeFileSync(join(lock, "pid"), String(process.pid));
      await make(manifest, made);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  const { version } = manifest;
  return {
    version,
    tarball: join(made, `creel-${version}.tgz`),
    modules: join(made, "node_modules"),
    root: join(made, "node_modules/creel"),
  };
}

const isDocument = (name: string): boolean => !/^!|^dist$/.test(name);
/** What the build reads. */
const BUILT_FROM = ["package.json", "tsconfig*.json", "src/**/*", "scripts/**/*", "types/**/*"];

function digestOf(sources: readonly string[]): string {
  const hash = createHash("sha256");
  for (const name of new Set(globSync(sources, { cwd: ROOT }).toSorted()))
    if (statSync(join(ROOT, name)).isFile())
      hash
        .update(`${name}\0`)
        .update(readFileSync(join(ROOT, name)))
        .update("\0");
  return hash.digest("hex").slice(0, 16);
}

async function make({ files, dependencies, version }: Manifest, made: string): Promise<void> {
  // Those of other states of this tree. A test that still runs may use one, so the newest stay.
  const old = readdirSync(CACHE).filter((name) => /^(?:dist-)?[0-9a-f]{16}$/.test(name));
  for (const name of old.toSorted((a, b) => statSync(join(CACHE, b)).mtimeMs - statSync(join(CACHE, a)).mtimeMs).slice(4))
    rmSync(join(CACHE, name), { recursive: true, force: true });
  const fresh = mkdtempSync(join(CACHE, "making-"));
  const stage = join(fresh, "stage");
  // A change of a guide needs no build.
  const dist = join(CACHE, `dist-${digestOf(BUILT_FROM)}`);
  if (!existsSync(dist)) {
    await run(process.execPath, ["scripts/build.ts", join(fresh, "dist")], { cwd: ROOT });
    renameSync(join(fresh, "dist"), dist);
  }
  cpSync(dist, join(stage, "dist"), { recursive: true });
  for (const name of ["package.json", "LICENSE", ...files])
    if (isDocument(name)) cpSync(join(ROOT, name), join(stage, name), { recursive: true });
  await run("npm", ["pack", "--ignore-scripts", "--offline", "--pack-destination", fresh], { cwd: stage });
  const modules = join(fresh, "node_modules");
  mkdirSync(join(modules, "creel"), { recursive: true });
  await run("tar", ["-xzf", join(fresh, `creel-${version}.tgz`), "-C", join(modules, "creel"), "--strip-components=1"]);
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  mkdirSync(join(modules, ".bin"));
  symlinkSync("../creel/dist/cli/main.js", join(modules, ".bin/creel"));
  chmodSync(join(modules, "creel/dist/cli/main.js"), 0o755);
  rmSync(stage, { recursive: true });
  renameSync(fresh, made);
}

/** Of a test run that was killed. */
function isAbandoned(lock: string): boolean {
  try {
    return !isAlive(Number(readFileSync(join(lock, "pid"), "utf8")));
  } catch {
    return false;
  }
}

/** The same, with what this machine says about registries: for package managers. */
export async function managerEnv(more: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  const given = Object.entries(process.env).filter((one): one is [string, string] =>
    /^(?:npm_config_|https?_proxy|no_proxy|YARN_|SSL_|NODE_EXTRA_)/i.test(one[0]),
  );
  return { ...Object.fromEntries(given), ...(await appEnv(more)) };
}

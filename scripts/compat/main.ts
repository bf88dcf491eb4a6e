/**
 * `npm run compat`: installs the public plugins and packages of list.json at their pinned versions, makes each do
 * something real inside the sandbox, and prints full, reduced or refused with the reason. Fails if one has become worse
 * than results.json says; `--update` writes results.json and the page in docs. `--only <names>` tries these, in their order, `--at-once <n>` so many side by side. Runs no
 * script of a package. `--workspace <folder>` keeps what npm downloads for the next time. `--checkouts <folder>` tries
 * the repositories of the list, too, which lie there as `owner+name` at their commits.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs, promisify } from "node:util";
import { openHost } from "../../src/sdk/open-host.ts";
import { absentOf, QUIET } from "./absent.ts";
import type { Expected } from "./answers.ts";
import { compatPage, STATUSES } from "./page.ts";
import type { Result, Results } from "./page.ts";
import { tryPlugin } from "./plugins.ts";
import { startServer } from "./server.ts";

interface Package {
  readonly name: string;
  readonly version: string;
  /** A module whose default export does something real. */
  readonly code: string;
  readonly expect: unknown;
  readonly grants?: Record<string, unknown>;
  readonly heapMb?: number;
  readonly cpuMs?: number;
}

interface List {
  readonly plugins: readonly { readonly name: string; readonly version: string }[];
  /** Repositories that hold a plugin: `owner/name`, and the commit. */
  readonly repositories: readonly { readonly name: string; readonly version: string }[];
  readonly packages: readonly Package[];
}

const HERE = import.meta.dirname;
const RESULTS = join(HERE, "results.json");
const PAGE = join(HERE, "../../docs/reference/compatibility.md");
const AT = new Date().toISOString().slice(0, 10);
/** What a machine with too much to do says, and not the plugin: tried again, this often. */
const OVERLOADED = /sandbox did not (?:start|answer)|did not settle within|took no CPU time|overloaded|took more than \d+ ms/;
const TRIES = 4;

const { values: options } = parseArgs({
  options: {
    update: { type: "boolean" },
    only: { type: "string" },
    workspace: { type: "string" },
    checkouts: { type: "string" },
    "at-once": { type: "string", default: "2" },
  },
});
const list = JSON.parse(readFileSync(join(HERE, "list.json"), "utf8")) as List;
const before: Results = existsSync(RESULTS)
  ? (JSON.parse(readFileSync(RESULTS, "utf8")) as Results)
  : { plugins: {}, repositories: {}, packages: {} };
/** What each plugin's own source says; record.ts writes it. */
const expected = JSON.parse(readFileSync(join(HERE, "expected.json"), "utf8")) as Record<string, Expected>;
const workspace = options.workspace ?? mkdtempSync(join(tmpdir(), "creel-compat-"));
mkdirSync(workspace, { recursive: true });
const only = options.only?.split(",");
function wanted<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
  return only ? only.flatMap((name) => all.filter((one) => one.name === name)) : all;
}

const results: Record<keyof Results, Record<string, Result>> = { plugins: {}, repositories: {}, packages: {} };
const server = await startServer();
let worse = 0;
try {
  const packages = wanted(list.packages);
  await tryAll("packages", packages, tryPackage, packages.length > 0 ? await downloaded() : workspace);
  await tryAll(
    "plugins",
    wanted(list.plugins),
    ({ name, version }, root) => tryPlugin(`${name}@${version}`, root, expected[name]),
    workspace,
  );
  const { checkouts } = options;
  if (checkouts !== undefined)
    await tryAll(
      "repositories",
      wanted(list.repositories),
      ({ name }, root) => tryPlugin(join(checkouts, name.replace("/", "+")), root, expected[name]),
      workspace,
    );
  for (const [kind, found] of Object.entries(results)) {
    const count = (status: string): number => Object.values(found).filter((one) => one.status === status).length;
    console.log(`${kind}: ${STATUSES.map((status) => `${count(status)} ${status}`).join(", ")}`);
  }
  if (worse > 0 && !options.update) process.exitCode = 1;
} finally {
  server.close();
  if (options.workspace === undefined) rmSync(workspace, { recursive: true, force: true });
}

async function downloaded(): Promise<string> {
  const root = join(workspace, "packages");
  mkdirSync(root, { recursive: true });
  // A folder that is kept has all of them.
  const needed = options.workspace === undefined ? wanted(list.packages) : list.packages;
  const dependencies = Object.fromEntries(needed.map(({ name, version }) => [name, version]));
  const manifest = JSON.stringify({ name: "compat", private: true, type: "module", dependencies });
  // Written once npm is done: a download that was interrupted is made again.
  const done = join(root, "downloaded.json");
  if (existsSync(done) && readFileSync(done, "utf8") === manifest) return root;
  writeFileSync(join(root, "package.json"), manifest);
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", "--no-package-lock", "--loglevel=error"];
  await promisify(execFile)("npm", args, { cwd: root, maxBuffer: 2 ** 26, shell: process.platform === "win32" });
  writeFileSync(done, manifest);
  return root;
}

async function tryAll<T extends { readonly name: string; readonly version: string }>(
  kind: keyof Results,
  all: readonly T[],
  attempt: (one: T, root: string) => Promise<Omit<Result, "version">>,
  root: string,
): Promise<void> {
  const waiting = [...all];
  const worker = async (): Promise<void> => {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      const once = (): Promise<Omit<Result, "version">> =>
        attempt(one, root).catch((error: unknown): Omit<Result, "version"> => ({ status: "refused", why: sentence(error) }));
      let found = await once();
      for (let tries = 1; tries < TRIES && OVERLOADED.test(found.why ?? ""); tries++) found = await once();
      if (found.why !== undefined) found = { ...found, why: withoutRegistry(found.why) };
      results[kind][one.name] = { version: one.version, ...found, at: AT };
      // At once: a pass over all of them takes long, and may be ended.
      if (options.update) write();
      const last = before[kind][one.name];
      const isWorse =
        last !== undefined && (STATUSES.indexOf(found.status) > STATUSES.indexOf(last.status) || differing(found) > differing(last));
      if (isWorse) worse += 1;
      console.log(
        `${found.status.padEnd(8)} ${one.name}@${one.version}${found.why ? `: ${found.why}` : ""}${isWorse ? ` (was ${last.status}${last.answers ? `, ${last.answers.same} of ${last.answers.of}` : ""})` : ""}`,
      );
    }
  };
  await Promise.all(Array.from({ length: Number(options["at-once"]) }, worker));
}

/** How many of its answers are not as its source says. One that has been refused was not compared. */
function differing({ answers }: Omit<Result, "version">): number {
  return answers === undefined ? 0 : answers.of - answers.same;
}

/** npm names the address of the registry that this machine happens to use: the package alone is what was found out. */
function withoutRegistry(why: string): string {
  return why.replace(/ - GET https?:\/\/[^/\s]+\/(\S+)/, (_, name: string) => `: ${decodeURIComponent(name)}`);
}

function write(): void {
  const merged: Results = {
    plugins: { ...before.plugins, ...results.plugins },
    repositories: { ...before.repositories, ...results.repositories },
    packages: { ...before.packages, ...results.packages },
  };
  writeFileSync(RESULTS, `${JSON.stringify(merged, undefined, 2)}\n`);
  writeFileSync(PAGE, compatPage(merged));
}

/** A plugin of a few lines around the package. */
async function tryPackage({ name, code, expect, grants, heapMb, cpuMs }: Package, root: string): Promise<Omit<Result, "version">> {
  const folder = join(root, "plugins", name.replaceAll("/", "+"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "run.js"), code);
  const entry = `import run from "./run.js";\nexport default (api) => api.registerTool({ name: "run", execute: async (_, context) => ({ value: await run(context) }) });\n`;
  writeFileSync(join(folder, "index.js"), entry);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "around", type: "module", dependencies: { [name]: "*" } }));
  writeFileSync(join(folder, "creel.plugin.json"), JSON.stringify({ id: "around" }));
  await using host = await openHost({
    lanes: 1,
    allowFailed: true,
    logger: QUIET,
    config: { sandbox: { spare: false } },
    plugins: [
      {
        id: "around",
        path: folder,
        grants: { fetch: [server.url], fs: true, ...grants } as never,
        limits: { heapMb: heapMb ?? 64 },
        hooks: { budgets: { tool: { cpuMs: cpuMs ?? 2_000, timeoutMs: 20_000 } } },
      },
    ],
  });
  const { error, diagnostics } = host.inspect("around");
  if (error) return { status: "refused", why: short(error.message) };
  const answer = await host.call({ tool: "run" }, { url: server.url });
  if (answer.status !== "ok") return { status: "refused", why: short(answer.error?.message ?? answer.status) };
  const { value } = answer.value as { value: unknown };
  if (!isDeepStrictEqual(value, expect))
    return { status: "refused", why: short(`answered ${JSON.stringify(value)}, not ${JSON.stringify(expect)}`) };
  const absent = absentOf(diagnostics);
  return absent.length > 0 ? { status: "reduced", why: `without ${absent.join(", ")}` } : { status: "full" };
}

function sentence(error: unknown): string {
  return short(error instanceof Error ? error.message : String(error));
}

/** Without ports and folders, which differ each time. */
function short(text: string): string {
  return text.replaceAll(server.url, "the server").replaceAll(workspace, "").replaceAll(/\s+/g, " ").slice(0, 240);
}

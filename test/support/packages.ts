/** Packages from the registry that npm is set up for, in a folder of their own. Nothing of them is run. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { folder } from "./files.ts";

const run = promisify(execFile);

const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=1", "--fetch-timeout=20000"];
/** What a plugin needs to run, without what it is developed with, or what its gateway has. */
const ONLY = ["--omit=dev", "--omit=peer", "--omit=optional", "--legacy-peer-deps"];

export type Downloaded = { readonly root: string } | { readonly unreached: string };

/** `unreached` says why there is no registry to be had; a package that a registry does not have is an error. */
export async function download(manifest: {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
}): Promise<Downloaded> {
  const root = folder({ "package.json": JSON.stringify({ name: "downloaded", private: true, ...manifest }) });
  const npm = (args: readonly string[], timeout: number) =>
    run("npm", [...args, ...QUIET], { cwd: root, timeout, shell: process.platform === "win32" });
  const [name, version] = Object.entries(manifest.dependencies)[0]!;
  try {
    await npm(["view", `${name}@${version}`, "version"], 25_000);
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    if (/\bE404\b/.test(stderr)) throw error;
    return { unreached: (/npm error (?:code )?(.+)/.exec(stderr)?.[1] ?? message).slice(0, 200) };
  }
  await npm(["install", ...ONLY], 120_000);
  return { root: `${root}/node_modules` };
}

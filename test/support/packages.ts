/** Packages from the registry that npm is set up for, in a folder of their own. Nothing of them is run. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { folder } from "./files.ts";

const run = promisify(execFile);

const QUIET = [
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--fetch-retries=1",
  "--fetch-retry-mintimeout=500",
  "--fetch-timeout=20000",
];
/** What a plugin needs to run, without what it is developed with, or what its gateway has. */
const ONLY = ["--omit=dev", "--omit=peer", "--omit=optional", "--legacy-peer-deps"];

/** What npm says when there is nobody to ask, or nobody who answers. */
const UNREACHED = /^(?:ENOTFOUND|EAI_\w+|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENETWORK|ERR_SOCKET_TIMEOUT|E401|E403|E5\d\d)$/;

export type Downloaded = { readonly root: string } | { readonly unreached: string };

/** `unreached` says why there is no registry to be had; a package that a registry does not have is an error. */
export async function download(manifest: {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
}): Promise<Downloaded> {
  const root = folder({ "package.json": JSON.stringify({ name: "downloaded", private: true, ...manifest }) });
  try {
    await run("npm", ["install", ...ONLY, ...QUIET], { cwd: root, timeout: 120_000, shell: process.platform === "win32" });
  } catch (error) {
    const code = /npm error code (\w+)/.exec((error as { stderr?: string }).stderr ?? "")?.[1];
    if (code === undefined || !UNREACHED.test(code)) throw error;
    return { unreached: code };
  }
  return { root: `${root}/node_modules` };
}

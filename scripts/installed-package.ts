/** A folder of somebody who has just installed Creel: packed, installed by npm into a fresh folder, with one installed plugin. Needs a registry. */
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export interface InstalledPackage extends Disposable {
  readonly home: string;
  /** The `creel` command, for `node`. */
  readonly bin: string;
}

export const PLUGIN_ID = "gate";
const PLUGIN = {
  "package.json": JSON.stringify({ name: PLUGIN_ID, version: "1.0.0", type: "module" }),
  "creel.plugin.json": JSON.stringify({ id: PLUGIN_ID, version: "1.0.0" }),
  "index.js": `export default (api) => { api.on("before_tool_call", (event) => (event.toolName === "rm" ? { block: true, blockReason: "no" } : undefined)); };\n`,
};

/** `tarball`: made by an earlier `npm pack`; without it the package is built and packed here. */
export function installedPackage(tarball?: string): InstalledPackage {
  const home = mkdtempSync(join(tmpdir(), "creel-installed-"));
  const stdio = ["ignore", "ignore", "inherit"] as const;
  try {
    const root = fileURLToPath(new URL("..", import.meta.url));
    if (tarball === undefined) execFileSync("npm", ["pack", "--silent", "--pack-destination", home], { cwd: root, stdio: [...stdio] });
    const packed = resolve(tarball ?? join(home, globSync("creel-*.tgz", { cwd: home })[0]!));
    writeFileSync(join(home, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
    const options = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
    execFileSync("npm", ["install", packed, ...options], { cwd: home, stdio: [...stdio] });
    mkdirSync(join(home, PLUGIN_ID));
    for (const [name, text] of Object.entries(PLUGIN)) writeFileSync(join(home, PLUGIN_ID, name), text);
    const bin = join(home, "node_modules/creel/dist/cli/main.js");
    const install = [bin, "install", `./${PLUGIN_ID}`];
    // Without a terminal the review ends with exit code 1, and its digest accepts it.
    const { stdout } = spawnSync(process.execPath, [...install, "--json"], { cwd: home, encoding: "utf8" });
    const { digest } = JSON.parse(stdout) as { digest: string };
    execFileSync(process.execPath, [...install, "--accept", digest], { cwd: home, stdio: [...stdio] });
    return { home, bin, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
}

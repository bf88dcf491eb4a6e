/**
 * Packages from the lock in test/packages/installed, which npm installs on demand, once. Each is bundled by the real
 * bundler into a plugin of a few lines, unmodified.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PluginSpec } from "creel";

const FOLDER = join(import.meta.dirname, "installed");
const DONE = join(FOLDER, "node_modules/.creel-lock");

/** Undefined: they are there. Otherwise why they cannot be had here. In CI that is a failure. */
export function missingPackages(): string | undefined {
  const lock = readFileSync(join(FOLDER, "package-lock.json"), "utf8");
  if (existsSync(DONE) && readFileSync(DONE, "utf8") === lock) return undefined;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stderr, error } = spawnSync("npm", args, { cwd: FOLDER, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status === 0) {
    writeFileSync(DONE, lock);
    return undefined;
  }
  const reason = error?.message ?? /npm error (?!code)(\S.*)/.exec(stderr)?.[1] ?? `npm ci ended with ${status}`;
  if (process.env["CI"]) throw new Error(`the packages of test/packages could not be installed: ${reason}`);
  return reason;
}

/** A plugin with one tool, named as the plugin; `code` is a module whose default export is the tool's function. */
export function around(id: string, code: string, more: Partial<PluginSpec> = {}): PluginSpec {
  const folder = join(FOLDER, "node_modules/.plugins", id.replaceAll("/", "+"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "run.js"), code);
  writeFileSync(
    join(folder, "index.js"),
    `import run from "./run.js";\nexport default (api) => api.registerTool({ name: ${JSON.stringify(id)}, execute: async (_, given) => ({ value: await run(given, api) }) });\n`,
  );
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "around", type: "module" }));
  writeFileSync(join(folder, "creel.plugin.json"), JSON.stringify({ id }));
  return {
    id,
    path: folder,
    // A cell that loads a large package on a busy machine takes long.
    hooks: { budgets: { tool: { cpuMs: 5_000, timeoutMs: 30_000 } } },
    ...more,
  };
}

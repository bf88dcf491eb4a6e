/**
 * Packages from the lock in test/packages/installed, which npm installs on demand, once. Each is bundled by the real
 * bundler into a plugin of a few lines, unmodified.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PluginSpec } from "creel";
import { installOnce } from "../support/npm-once.ts";

const FOLDER = join(import.meta.dirname, "installed");

/** Undefined: they are there. Otherwise why they cannot be had here. In CI that is a failure. */
export function missingPackages(): string | undefined {
  const why = installOnce(FOLDER);
  if (why !== undefined && process.env["CI"]) throw new Error(`the packages of test/packages could not be installed: ${why}`);
  return why;
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

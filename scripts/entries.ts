/**
 * Makes the modules of the package that are imported first: they check Node, and only then load the rest, of which an old Node could not even parse a file.
 * They load it by `require`, since a module that awaits cannot be required itself. Their types are those of the module behind them.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ENTRIES = {
  "entry.js": "index.js",
  "testing-entry.js": "sdk/testing/testing.js",
  "console-entry.js": "console/console-server.js",
  "openclaw-entry.js": "openclaw/bridge.js",
  "console-tools-entry.js": "cli/console/host-tools.js",
};

export async function writeEntries(dist: string): Promise<void> {
  for (const [entry, module] of Object.entries(ENTRIES)) {
    const names = Object.keys((await import(pathToFileURL(join(dist, module)).href)) as object).toSorted();
    const lines = [
      `import { createRequire } from "node:module";`,
      `import { checkNode } from "./node-version.js";`,
      `checkNode();`,
      `const all = createRequire(import.meta.url)("./${module}");`,
      ...names.map((name) => `export const ${name} = all.${name};`),
    ];
    writeFileSync(join(dist, entry), `${lines.join("\n")}\n`);
  }
}

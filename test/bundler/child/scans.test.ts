/** The scan of a bundle covers all that is in it, packages included, and nothing else; file and line are the author's. */
import { describe, expect, it } from "vitest";
import { bundleAndScan } from "../../../src/bundler/bundle.ts";
import { findPlugin } from "../../../src/discovery/manifest.ts";
import { folder } from "../../support/files.ts";

describe("the scan of a bundle", () => {
  it("names files as their author and npm know them, the worst first, and leaves out what is not imported", async () => {
    const root = folder({
      "creel.plugin.json": JSON.stringify({ id: "scanned" }),
      "index.ts": `import { used } from "./lib/used.ts";\nimport helper from "helper";\ntype Never = "https://types.example.com";\nexport default (api: { on: unknown }) => { used(helper, process.env.TOKEN as Never); };\n`,
      "lib/used.ts": `export { unused } from "./unused.ts";\n// https://comments.example.com\nexport const used = (...given: unknown[]) => fetch("https://API.example.com/v1", { body: String(given) });\n`,
      "lib/unused.ts": `export const unused = "https://unused.example.com";\n`,
      "alone.ts": `eval("https://alone.example.com");\n`,
      "node_modules/helper/package.json": JSON.stringify({ name: "helper", main: "index.js" }),
      "node_modules/helper/index.js": `"use strict";\nmodule.exports = [].constructor.constructor;\nmodule.exports.home = "http://helper.example.com:8080/x";\n`,
    });
    const { entry } = await findPlugin(root);
    const { bundle, scan } = await bundleAndScan(root, entry, undefined);
    expect(bundle.digest).toMatch(/^sha256-/);
    expect(scan).toEqual({
      files: 3,
      origins: [
        { origin: "https://api.example.com", file: "lib/used.ts", line: 3 },
        { origin: "http://helper.example.com:8080", file: "node_modules/helper/index.js", line: 3 },
      ],
      env: ["TOKEN"],
      uses: ["fetch"],
      findings: [
        expect.objectContaining({ rule: "constructor-chain", severity: "critical", file: "node_modules/helper/index.js", line: 2 }),
      ],
    });
  });
});

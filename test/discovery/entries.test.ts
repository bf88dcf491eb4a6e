/** Where a plugin's entry is found: as OpenClaw finds it, and never outside of the plugin's folder. */
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { findPlugin } from "../../src/discovery/manifest.ts";
import { folder } from "../support/files.ts";

const FOUND: Record<string, [manifest: object, file: string, others?: string[]]> = {
  "openclaw.extensions": [{ openclaw: { extensions: ["./plugin.ts"] } }, "plugin.ts", ["index.ts"]],
  "openclaw.extensions without its sources": [{ openclaw: { extensions: ["./src/index.ts"] } }, "dist/index.js"],
  "the former name": [{ clawdbot: { extensions: ["./p.js"] } }, "p.js"],
  main: [{ main: "dist/p.js" }, "dist/p.js"],
  "main without extension": [{ main: "lib/p" }, "lib/p.js"],
  "exports as a text": [{ exports: "./x.js" }, "x.js"],
  "exports by condition": [{ exports: { ".": { types: "./x.d.ts", import: { types: "./a.d.ts", default: "./x.mjs" } } } }, "x.mjs"],
  nothing: [{}, "dist/index.js"],
};

test.each(Object.entries(FOUND))("by %s", async (_, [manifest, file, others = []]) => {
  const root = folder({
    "p/package.json": JSON.stringify(manifest),
    "outside.js": "",
    ...Object.fromEntries([file, ...others].map((name) => [`p/${name}`, "export default () => {};"])),
  });
  expect(relative(join(root, "p"), (await findPlugin(join(root, "p"))).entry)).toBe(file);
});

test("never outside of the plugin's folder", async () => {
  const root = folder({
    "p/package.json": JSON.stringify({ main: "../outside.js", openclaw: { extensions: ["./../outside.js"] } }),
    "outside.js": "",
  });
  await expect(findPlugin(join(root, "p"))).rejects.toMatchObject({ code: "ERR_PLUGIN_ENTRY" });
});

/** What real packages expect around them: data files beside their code, conditions, a home, an SDK by `createRequire`. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder } from "../support/files.ts";
import { contract, open } from "../support/host.ts";

contract("what packages expect", (isolation) => {
  test("is there: data files they name, other builds, a home, and the SDK by createRequire; nothing from outside", async () => {
    const root = folder({
      "p/package.json": JSON.stringify({ name: "p", type: "module", main: "dist/p.js" }),
      "p/tsconfig.json": JSON.stringify({ extends: "../../elsewhere/tsconfig.base.json" }),
      "p/dist/p.js": `
        import { readFileSync } from "node:fs";
        import { createRequire } from "node:module";
        import { join } from "node:path";
        import { where, table, hidden, linked } from "data";
        import challenge from "conditions";
        const require = createRequire(import.meta.url);
        const { definePluginEntry } = require("openclaw/plugin-sdk/plugin-entry");
        import { stringEnum, defineToolPlugin } from "openclaw/plugin-sdk/core";
        import { z } from "openclaw/plugin-sdk/zod";
        const tools = defineToolPlugin({ id: "t", tools: (tool) => [tool({ name: "greet", parameters: { type: "object", properties: { who: stringEnum(["you", "me"]) } }, execute: ({ who }, { word }) => word + " " + z.string().parse(who) })] });
        const attempt = (read) => { try { return read(); } catch (error) { return error.code; } };
        export default definePluginEntry({ id: "p", register(api) {
          tools.register(api);
          api.registerTool({ name: "look", execute: () => [
            table(), attempt(hidden), attempt(linked), where, challenge(), join(process.env.HOME, ".openclaw"), self === globalThis,
            attempt(() => require("node:child_process")),
          ] });
        } });`,
      "p/node_modules/data/package.json": JSON.stringify({ name: "data", main: "lib/index.js" }),
      "p/node_modules/data/lib/index.js": `
        const { readFileSync } = require("fs"), path = require("path");
        exports.where = __dirname;
        exports.table = () => readFileSync(path.join(__dirname, "table.dat"), "utf8");
        exports.hidden = () => readFileSync(path.join(__dirname, ".env.txt"), "utf8");
        exports.linked = () => readFileSync(path.join(__dirname, "linked.txt"), "utf8");`,
      "p/node_modules/data/lib/table.dat": "1 2 3",
      "p/node_modules/data/lib/.env.txt": "secret",
      "p/node_modules/conditions/package.json": JSON.stringify({
        name: "conditions",
        exports: { ".": { browser: { default: "./browser.js" }, node: { import: "./node.js" } } },
      }),
      "p/node_modules/conditions/browser.js": `export default () => "browser";`,
      "p/node_modules/conditions/node.js": `export default () => "node";`,
      "outside.txt": "the operator's",
    });
    symlinkSync(join(root, "outside.txt"), join(root, "p/node_modules/data/lib/linked.txt"));
    await using host = await open(isolation, { plugins: [{ id: "p", path: join(root, "p"), config: { word: "hello" } }] });
    expect(host.inspect("p").error).toBe(undefined);
    expect((await host.call({ tool: "look" })).value).toEqual([
      "1 2 3",
      "ENOENT",
      "ENOENT",
      "/plugin/node_modules/data/lib",
      "browser",
      "/home/plugin/.openclaw",
      true,
      "MODULE_NOT_FOUND",
    ]);
    expect((await host.call({ tool: "greet" }, { who: "you" })).value).toEqual({
      content: [{ type: "text", text: "hello you" }],
      details: "hello you",
    });
  });
});

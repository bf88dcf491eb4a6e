/** The kinds of plugin that `creel init` writes: a hook of each sort, a tool, or a HOOK.md folder as OpenClaw has them. */
import type { ScaffoldOptions } from "./scaffold.ts";
import { GITIGNORE, json, manifest, readme, TSCONFIG } from "./scaffold.ts";

export const KINDS = ["gate", "modify", "observe", "turn", "tool", "hook-md"] as const;
export type Kind = (typeof KINDS)[number];

/** The hook of a kind; the tool has none. */
export const HOOK_OF: Readonly<Record<Kind, string>> = {
  gate: "before_tool_call",
  modify: "message_sending",
  observe: "after_tool_call",
  turn: "beforeTurn",
  tool: "",
  "hook-md": "session:patch",
};

/** By name, in the order in which one would read them. */
export function toolFiles(id: string, creel: ScaffoldOptions["creel"]): Readonly<Record<string, string>> {
  return {
    "creel.plugin.json": json({
      $schema: "./node_modules/creel/docs/reference/creel.plugin.schema.json",
      id,
      name: id,
      description: "One line about what it does.",
      main: "index.ts",
      hooks: [],
    }),
    "index.ts": `import { definePlugin } from "creel/plugin";

export default definePlugin({
  id: ${JSON.stringify(id)},
  register(api) {
    api.registerTool({
      name: "count_words",
      description: "Counts the words of a text",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      execute: async (_id, params: { text: string }) => {
        const words = params.text.split(/\\s+/).filter((word) => word !== "");
        return { content: [{ type: "text", text: String(words.length) }] };
      },
    });
  },
});
`,
    "index.test.ts": `import assert from "node:assert/strict";
import { test } from "node:test";
import { createHarness } from "creel/testing";

test("counts words", async () => {
  // npm run coverage counts the lines of the plugin, too.
  const coverage = process.env.NODE_V8_COVERAGE !== undefined;
  await using harness = await createHarness({ plugin: import.meta.dirname, coverage });
  const { status, value } = await harness.call({ tool: "count_words" }, { text: "one two  three" });
  assert.equal(status, "ok");
  assert.deepEqual(value, { content: [{ type: "text", text: "3" }] });
});
`,
    "tsconfig.json": json(TSCONFIG),
    "package.json": json(manifest(id, creel)),
    "README.md": readme(id, "tool:count_words", "It adds the tool `count_words`."),
    ".gitignore": GITIGNORE,
  };
}

export function hookMdFiles(id: string, event: string, creel: ScaffoldOptions["creel"]): Readonly<Record<string, string>> {
  return {
    "HOOK.md": `---
name: ${id}
description: One line about what it does.
version: 0.1.0
metadata: { "openclaw": { "events": ["${HOOK_OF["hook-md"]}"] } }
---

# ${id}

Logs every change of a session.
`,
    "handler.ts": `/** What an event has: node_modules/creel/docs/reference/hooks.md */
export default async function handler(event: { type: string; action: string; context: Record<string, unknown> }): Promise<void> {
  console.log(\`\${event.type}:\${event.action} was called\`);
}
`,
    "handler.test.ts": `import assert from "node:assert/strict";
import { test } from "node:test";
import { createHarness } from "creel/testing";

test("is called", async () => {
  // npm run coverage counts the lines of the plugin, too.
  const coverage = process.env.NODE_V8_COVERAGE !== undefined;
  await using harness = await createHarness({ plugin: import.meta.dirname, coverage, permissions: ["conversation"] });
  const outcome = await harness.run("${HOOK_OF["hook-md"]}", ${event});
  assert.deepEqual(outcome.calls.map(({ status }) => status), ["ok"]);
  assert.equal(harness.logs[0]?.text, "session:patch was called");
});
`,
    "tsconfig.json": json(TSCONFIG),
    "package.json": json(manifest(id, creel)),
    ".gitignore": GITIGNORE,
  };
}

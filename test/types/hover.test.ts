/** What an editor shows an author over hooks and fields, asked of TypeScript's own language server: the catalog's sentences. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CATALOG } from "../../src/protocol/catalog.ts";
import { FIELD_WORDS } from "../../src/protocol/hooks/field-words.ts";
import { folder } from "../support/files.ts";
import { LanguageServer } from "../support/language-server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PLUGIN = `import { definePlugin } from "creel/plugin";
import type { HookHandlers } from "creel/plugin";

const sign: HookHandlers["message_sending"] = (event) => ({ content: event.content });

export default definePlugin({
  id: "hovered",
  register(api) {
    api.on("before_tool_call", (event, ctx) => {
      if (event.toolName === ctx.sessionKey) return undefined;
      return { block: true, blockReason: "no" };
    });
    api.on("message_sending", sign);
  },
});
`;

it(
  "an editor shows the catalog's sentence over an event's field, a context's, a result's, and a hook's name",
  { timeout: 60_000 },
  async () => {
    const where = folder({
      "index.ts": PLUGIN,
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          strict: true,
          module: "preserve",
          allowImportingTsExtensions: true,
          noEmit: true,
          skipLibCheck: true,
          types: [],
          paths: { "creel/plugin": [join(root, "src/sdk/author/plugin.ts")] },
        },
      }),
    });
    await using editor = await LanguageServer.in(where);
    editor.open("index.ts", PLUGIN);
    const over = (words: string): Promise<string> => editor.hover("index.ts", PLUGIN, words);
    expect(await over("toolName ")).toContain(FIELD_WORDS.toolName);
    expect(await over("sessionKey")).toContain(FIELD_WORDS.sessionKey);
    expect(await over("content:")).toContain(FIELD_WORDS.content);
    expect(await over('"message_sending"]')).toContain(CATALOG.message_sending.summary);
  },
);

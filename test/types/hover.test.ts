/** What an editor shows an author over hooks and fields, asked of TypeScript's own language server: the catalog's sentences. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hookWords } from "../../scripts/field-docs.ts";
import { innerWords } from "../../scripts/inner-words.ts";
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
      if (ctx.trace?.traceFlags === "01") return { requireApproval: { title: "t", description: "d", timeoutBehavior: "deny" } };
      return { block: true, blockReason: "no" };
    });
    api.on("message_sending", sign);
    api.on("session:patch", ({ context }) => api.logger.info(context.sessionEntry, context.patch.thinkingLevel));
  },
});
`;

/** The ways to declare that an argument is one of several texts, each with its comment. */
const FORMS = `interface Letters {
  /** The first letter. */ alpha: () => void;
  /** The second letter. */ beta: () => void;
}
interface Api {
  keyed<N extends keyof Letters>(name: N, form: string): void;
  /** The first letter. */
  overloaded(name: "alpha", form: string): void;
  /** The second letter. */
  overloaded(name: "beta", form: string): void;
  united(name: { [N in keyof Letters]: N }[keyof Letters], form: string): void;
  objected<L extends Letters>(name: keyof L, form: string): L;
}
declare const api: Api;
declare const letters: Letters;
api.keyed("alpha", "keyof");
api.overloaded("alpha", "overload");
api.united("alpha", "union");
api.objected<Letters>("alpha", "object");
letters["alpha"]();
`;
const CONFIG = JSON.stringify({
  compilerOptions: {
    strict: true,
    module: "preserve",
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    paths: { "creel/plugin": [join(root, "src/sdk/author/plugin.ts")] },
  },
});

describe("in an editor", { timeout: 120_000 }, () => {
  let editor: LanguageServer;
  beforeAll(async () => {
    editor = await LanguageServer.in(folder({ "index.ts": PLUGIN, "forms.ts": FORMS, "tsconfig.json": CONFIG }));
    editor.open("index.ts", PLUGIN);
    editor.open("forms.ts", FORMS);
  });
  afterAll(() => editor?.[Symbol.asyncDispose]());
  const over = (words: string): Promise<string> => editor.hover("index.ts", PLUGIN, words);

  it("the catalog's sentence is shown over an event's field, a context's, a result's, and a hook's name", async () => {
    expect(await over("toolName ")).toContain(FIELD_WORDS.toolName);
    expect(await over("sessionKey")).toContain(FIELD_WORDS.sessionKey);
    expect(await over("content:")).toContain(FIELD_WORDS.content);
    expect(await over('"message_sending"]')).toContain(CATALOG.message_sending.summary);
  });

  it("and over a result's field on a branch, and a field inside of another: of a result, a context, an internal event's context, and one step further", async () => {
    expect(await over("requireApproval: {")).toContain(FIELD_WORDS.requireApproval);
    expect(await over("timeoutBehavior")).toContain(innerWords("requireApproval", "timeoutBehavior"));
    expect(await over("blockReason")).toContain(FIELD_WORDS.blockReason);
    expect(await over("traceFlags")).toContain(innerWords("trace", "traceFlags"));
    expect(await over("sessionEntry")).toContain(innerWords("context", "sessionEntry"));
    expect(await over("thinkingLevel")).toContain(innerWords("patch", "thinkingLevel"));
  });

  it("over `on`, the catalog's sentence about the hook that the call names, and also while the call is written", async () => {
    expect(await over('on("before_tool_call"')).toContain(hookWords(CATALOG.before_tool_call));
    expect(await over('on("message_sending"')).toContain(hookWords(CATALOG.message_sending));
    expect(await editor.signature("index.ts", PLUGIN, "sign);")).toContain(hookWords(CATALOG.message_sending));
  });

  it("every hook is offered between the quotes", async () => {
    const { labels } = await editor.completion("index.ts", PLUGIN, 'before_tool_call", (', "before_tool_call");
    expect(labels.toSorted()).toEqual(Object.keys(CATALOG).toSorted());
  });

  // If one of these shows something one day, OnHook can show the sentence over the name itself.
  it.each(["keyof", "overload", "union", "object"])("TypeScript has nothing to show over a text that is an argument: %s", async (form) => {
    expect(await editor.hover("forms.ts", FORMS, `"alpha", "${form}"`)).toBe("");
    expect((await editor.completion("forms.ts", FORMS, `alpha", "${form}"`, "alpha")).words).toBe("");
    // It knows the sentence where the text is a key.
    expect(await editor.hover("forms.ts", FORMS, '"alpha"]')).toContain("The first letter.");
  });
});

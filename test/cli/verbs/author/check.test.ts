/** `creel check`: a plugin that uses what the sandbox does not have is flagged where it does so, before anybody installs it. */
import { describe, expect, it } from "vitest";
import { examine } from "../../../../src/cli/check/examine.ts";
import type { Findings } from "../../../../src/cli/check/examine.ts";
import { folder } from "../../../support/files.ts";
import { ANSI, creel } from "../../../support/creel.ts";

const manifest = (id: string) => JSON.stringify({ id, name: "A plugin", version: "1.2.3", main: "index.ts" });
const body = (code: string) => `import { definePlugin } from "creel/plugin";
export default definePlugin({
  id: "checked",
  register(api) {
    api.on("message_sending", async (event) => {
${code}
      return { content: event.content };
    }, { priority: 5 });
  },
});
`;

/** In this process: starting a command from its sources takes longer than the check. */
const check = (files: Record<string, string>, types: "auto" | "none" = "auto"): Promise<Findings> => examine(folder(files), types);

describe("creel check", () => {
  it("a plugin that fits passes, and its page says what it registers", async () => {
    const code = `      const url = new URL("https://example.com/");
      setTimeout(() => console.log(url.href, crypto.randomUUID(), process.env.HOME), 5);
      await fetch(url, { signal: AbortSignal.timeout(100) });`;
    const ended = await creel(["check", folder({ "creel.plugin.json": manifest("checked"), "index.ts": body(code) })]);
    expect(ended.stdout).toMatch(/^checked 1\.2\.3 {2}A plugin\n/);
    expect(ended.stdout).toContain("message_sending (5)");
    expect(ended.stdout).toContain("✓ it runs in the sandbox");
    expect(ended.stdout).not.toMatch(ANSI);
    expect(ended.code).toBe(0);
  });

  it("what is not there is named with its place: a global, a module of Node's, a function of a module, a hook", async () => {
    const code = `      document.title = "x";
      await import("node:child_process");`;
    const findings = await check({ "index.ts": `import { watchFile } from "node:path";\n${body(code)}watchFile();\n` });
    const places = findings.problems.filter(({ step }) => step === "types").map(({ message, at }) => [at, message]);
    expect(places).toEqual(
      expect.arrayContaining([
        ["index.ts:7:7", expect.stringContaining("'document'")],
        ["index.ts:8:20", expect.stringContaining("node:child_process")],
        ["index.ts:1:10", expect.stringContaining("watchFile")],
      ]),
    );
    expect(findings.problems.every(({ fix }) => !fix?.includes("npm"))).toBe(true);
  });

  it.each(["the plugin's own folder", "the root folder"])("names the same places when it is called from %s", async (where) => {
    const root = folder({ "src/index.js": "export default () => { window.x = 1; };\n", "package.json": `{"main":"src/index.js"}` });
    const before = process.cwd();
    process.chdir(where === "the root folder" ? "/" : root);
    try {
      const { problems } = await examine(root, "auto");
      expect(problems.filter(({ step }) => step === "types").map(({ at }) => at)).toEqual(["src/index.js:1:24"]);
    } finally {
      process.chdir(before);
    }
  });

  it("of JavaScript only absent names are said, and types can be left out", async () => {
    const files = { "index.js": `export default (api) => { let x = 1; x = "text"; api.on("llm_input", () => { window.x = x; }); };\n` };
    const findings = await check(files);
    expect(findings.problems.map(({ message }) => message)).toEqual(["Cannot find name 'window'."]);
    const plain = await check(files, "none");
    expect([plain.types.isChecked, plain.problems, plain.hooks]).toEqual([false, [], [{ hook: "llm_input", priority: 0 }]]);
  });

  it("a plugin that throws while it registers is a problem with its place", async () => {
    const root = folder({ "index.ts": "export default () => {\n  throw new Error('no');\n};\n" });
    const { code, stdout } = await creel(["check", root, "--types", "none", "--json"]);
    const problem = { step: "register", message: expect.stringContaining("no") as string, at: "index.ts:2:9" };
    expect((JSON.parse(stdout) as Findings).problems).toMatchObject([problem]);
    expect(code).toBe(1);
  });

  it("permissions by kind are still read, with the same by key to write instead; those by key have no remark", async () => {
    const files = { "index.js": `export default (api) => { api.on("llm_input", () => {}); };\n` };
    const older = { kv: { reason: "counts" }, fetch: [{ origin: "https://a.example", methods: ["GET"], reason: "asks" }] };
    const newer = { kv: "counts", "fetch:https://a.example#GET": "asks" };
    const found = await Promise.all(
      [older, newer].map((permissions) =>
        check({ ...files, "creel.plugin.json": JSON.stringify({ id: "old", main: "index.js", permissions }) }, "none"),
      ),
    );
    const [old, young] = found.map(({ permissions, remarks }) => ({
      keys: permissions.map(({ key }) => key).toSorted(),
      // Hints are a sentence with JSON at its end.
      hints: remarks.flatMap((remark) => /write "permissions": (\{.*\})$/.exec(remark)?.[1] ?? []),
    }));
    expect(old!.hints.map((hint) => JSON.parse(hint) as unknown)).toEqual([newer]);
    expect(young).toEqual({ keys: old!.keys, hints: [] });
  });

  it("without a plugin it says what to write", async () => {
    const { code, stderr } = await creel(["check"]);
    expect(stderr).toContain("creel check ./my-plugin");
    expect(code).toBe(2);
  });
});

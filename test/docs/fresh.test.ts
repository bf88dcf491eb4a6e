/** The reference pages say what the tables say, and their examples compile. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CATALOG } from "../../src/protocol/catalog.ts";
import type { AnyHook } from "../../src/protocol/catalog.ts";
import { ERRORS } from "../../src/protocol/errors.ts";
import { errorsPage, example, hooksPage, pages, pathOf } from "../../scripts/docs.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const hooks: AnyHook[] = Object.values(CATALOG);

/** What a function returns is not searched for misspelt fields unless it is told what it has to be. */
const strict = (hook: AnyHook) => example(hook).replaceAll(/return (\{.*\});/g, `return $1 satisfies HookAnswer<"${hook.name}">;`);

describe("the reference pages", () => {
  it.each(Object.keys(pages()))("docs/%s is what `npm run docs` makes", async (page) => {
    expect(await readFile(pathOf(page), "utf8")).toBe(pages()[page]);
  });

  it("every hook has a section, and the overview links to it", () => {
    const page = hooksPage();
    for (const { name } of hooks) {
      expect(page).toContain(`\n### \`${name}\`\n`);
      expect(page).toContain(`| [\`${name}\`](#`);
    }
  });

  it("no two headings have the same anchor", () => {
    const anchors = hooksPage()
      .split("\n")
      .filter((line) => line.startsWith("#"))
      .map((line) =>
        line
          .replace(/^#+ /, "")
          .replaceAll(/[^\w -]/g, "")
          .toLowerCase(),
      );
    expect(new Set(anchors).size).toBe(anchors.length);
  });

  it("every error is listed once", () => {
    const page = errorsPage();
    for (const code of Object.keys(ERRORS)) expect(page.split(`| \`${code}\` |`)).toHaveLength(2);
  });

  it("every example compiles against the author's SDK", async () => {
    const folder = await mkdtemp(join(tmpdir(), "creel-docs-"));
    try {
      const head = [
        `import type { HookAnswer, PluginApi } from ${JSON.stringify(join(root, "src/sdk/author/plugin.ts"))};`,
        "declare const api: PluginApi;",
        "declare function yours(event: unknown): boolean;",
      ];
      await writeFile(join(folder, "examples.ts"), [...head, ...hooks.map(strict)].join("\n"));
      await writeFile(
        join(folder, "tsconfig.json"),
        JSON.stringify({
          extends: join(root, "tsconfig.json"),
          compilerOptions: { rewriteRelativeImportExtensions: false, typeRoots: [join(root, "node_modules/@types")] },
          include: ["examples.ts"],
        }),
      );
      const compiled = await promisify(execFile)(join(root, "node_modules/.bin/tsc"), ["-p", folder]).catch(
        (error: { stdout: string }) => error,
      );
      const complaints = compiled.stdout.split("\n").filter((line) => line.includes("examples.ts"));
      expect(complaints).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

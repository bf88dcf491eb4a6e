/** `vitest --coverage` with the packed package: vitest's own report has the lines of the plugin, which are run inside of the isolate. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { appEnv, packedCreel } from "../../support/packed.ts";
import { folder } from "../../support/files.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** As docs/guides/testing-plugins.md has it; the report is read by this test, so it is JSON. */
const CONFIG = `import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    coverage: { provider: "v8", autoAttachSubprocess: true, reporter: "json" },
  },
});
`;
const PLUGIN = `import { definePlugin } from "creel/plugin";
import { reasonOf } from "./reason.ts";

interface Rule {
  readonly word: string;
}

export default definePlugin({
  id: "covered",
  register(api) {
    const rule: Rule = { word: "rm" };
    api.on("before_tool_call", ({ params }) => {
      const command = String(params.command);
      if (command === "rewrite") {
        return { params: { command: "ls" } };
      }
      if (command.includes(rule.word)) {
        return { block: true, blockReason: reasonOf(command) };
      }
      return undefined;
    });
  },
});
`;
const REASON = `export function reasonOf(command: string): string {
  if (command.length > 100) {
    return "a long one";
  }
  return \`no \${command}\`;
}

export function unused(): string {
  return "never";
}
`;
const test = (name: string, command: string, decision: string): string => `import { expect, test } from "vitest";
import { createHarness } from "creel/testing";

test("${name}", async () => {
  const coverage = process.env.NODE_V8_COVERAGE !== undefined;
  await using harness = await createHarness({ plugin: import.meta.dirname, coverage });
  const outcome = await harness.run("before_tool_call", { toolName: "exec", params: { command: "${command}" } });
  expect(outcome.decision).toBe("${decision}");
});
`;

/** A file in the report: how often each statement was run, and where it begins. */
interface Reported {
  readonly statementMap: Readonly<Record<string, { readonly start: { readonly line: number } }>>;
  readonly s: Readonly<Record<string, number>>;
}

it("vitest's report adds up, by file and line of TypeScript, what the plugin ran in the sandbox in every test file", async () => {
  const where = folder({
    "package.json": '{ "type": "module" }',
    "creel.plugin.json": '{ "id": "covered", "main": "index.ts", "hooks": ["before_tool_call"] }',
    "vitest.config.ts": CONFIG,
    "index.ts": PLUGIN,
    "reason.ts": REASON,
    "block.test.ts": test("blocks", "rm x", "block"),
    "rewrite.test.ts": test("rewrites", "rewrite", "pass"),
  });
  mkdirSync(join(where, "node_modules/@vitest"), { recursive: true });
  symlinkSync((await packedCreel()).root, join(where, "node_modules/creel"));
  for (const name of ["vitest", "@vitest/coverage-v8"]) symlinkSync(join(ROOT, "node_modules", name), join(where, "node_modules", name));
  // Two lines of the shell, as a person types them.
  const args = [join(where, "node_modules/vitest/vitest.mjs"), "run", "--coverage"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: where, env: await appEnv() });
  expect(stdout).toContain("2 passed");
  const report = JSON.parse(readFileSync(join(where, "coverage/coverage-final.json"), "utf8")) as Record<string, Reported>;
  /** By the line where a statement begins. */
  const countsOf = (file: string): Record<number, number> => {
    const { s, statementMap } = report[join(where, file)]!;
    return Object.fromEntries(Object.entries(statementMap).map(([at, { start }]) => [start.line, s[at]!]));
  };
  // Both test files enter the handler, one rewrites, one blocks, neither gets to its last line.
  expect(countsOf("index.ts")).toMatchObject({ 13: 2, 14: 2, 15: 1, 17: 1, 18: 1, 20: 0 });
  expect(countsOf("reason.ts")).toEqual({ 2: 1, 3: 0, 5: 1, 9: 0 });
}, 120_000);

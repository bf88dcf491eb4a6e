/**
 * A reporter of vitest: writes docs/reference/openclaw-live.md from a run of test/openclaw/live.test.ts, one row per test. A run of
 * only some of them writes nothing, and neither does one on another day that shows the same.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const ROOT = join(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/reference/openclaw-live.md");

const FILE = "test/openclaw/live.test.ts";

const versionIn = (file: string): string => (JSON.parse(readFileSync(join(ROOT, file), "utf8")) as { version: string }).version;

export default class LiveTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = [...(modules.find(({ moduleId }) => moduleId.endsWith(FILE))?.children.allTests() ?? [])];
    if (tests.length === 0 || tests.some((test) => test.result().state === "skipped")) return;
    const openclaw = versionIn("test/openclaw/gateway/node_modules/openclaw/package.json");
    const rows = tests.map((test) => `| ${test.name} | ${test.result().state === "passed" ? "✓" : "✗"} |`);
    const page = `# Tried live

<!-- Written by npm run test:openclaw. Do not edit. -->

Each row is a test of \`test/openclaw/live\` on one running gateway: OpenClaw ${openclaw}, Creel ${versionIn("package.json")}, Node
${process.versions.node}, ${process.platform} ${process.arch}, ${new Date().toISOString().slice(0, 10)}. \`npm run test:openclaw\` runs them again and writes this page.

| what | seen |
|---|---|
${rows.join("\n")}
`;
    if (undated(page) !== undated(readFileSync(PAGE, "utf8"))) writeFileSync(PAGE, page);
  }
}

function undated(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\d/, "");
}

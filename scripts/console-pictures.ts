/**
 * Makes the screenshots of the console in docs/images, light and dark: `node -C source scripts/console-pictures.ts`. The host is real: its
 * plugins block, ask, fail, loop, reach for what they were not granted and are slow, so that every view has something to show. One is
 * installed, so that its permissions can be granted and revoked.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { Page } from "playwright-core";
import { openHost } from "creel";
import { serveConsole } from "creel/console";
import { projectTools } from "../src/cli/console/project-tools.ts";
import { findProject } from "../src/cli/plugins/project.ts";
import { silentLogger } from "../src/host/report/silent-logger.ts";
import { chromiumPath } from "./chromium.ts";

const OUT = join(import.meta.dirname, "../docs/images");
const GUARD = `export default (api) => {
  api.on("before_tool_call", async (event) => {
    const { command = "" } = event.params;
    if (command !== "") console.log("checked", command);
    await api.kv.set("last", command);
    if (/\\brm -rf\\b/.test(command)) return { block: true, blockReason: "rm -rf is not allowed: name the files" };
    if (/make install/.test(command))
      return { requireApproval: { title: "Run make install", description: "It changes files outside the workspace.", severity: "warning" } };
  }, { priority: 50 });
};`;
const SLOW = `export default (api) => {
  api.on("before_tool_call", async (event) => {
    await new Promise((done) => setTimeout(done, 4 + Math.random() * 9));
    if (/upload/.test(event.params.command)) await fetch("https://files.example.com/put").catch((error) => console.warn(error.message));
  });
};`;
const LOOPER = `export default (api) => { api.on("before_tool_call", (event) => { if (/find/.test(event.params.command)) for (;;) {} }); };`;
const FLAKY = `export default (api) => { api.on("message_sending", (event) => { if (/error/.test(event.content)) throw new TypeError("cannot read the template"); }); };`;
const COMMANDS = ["ls -la", "git status", "npm test", "rm -rf build", "cat README.md", "make test"];
/** Long enough for several samples of the plots. */
const WARM_MS = 32_000;

const path = await chromiumPath();
if (path === undefined) throw new Error("there is no Chromium here: install it, or set CHROMIUM_PATH");
mkdirSync(OUT, { recursive: true });
const home = mkdtempSync(join(tmpdir(), "creel-pictures-"));
const config = join(home, "creel.json");
writeFileSync(config, JSON.stringify({ stateDir: "state", record: { enabled: true }, sandbox: { spare: false } }));
const permissions = { kv: { reason: "remembers the last command" }, schedule: { reason: "forgets it at night" } };
mkdirSync(join(home, "tool-guard"));
writeFileSync(join(home, "tool-guard/index.js"), GUARD);
const manifest = { id: "tool-guard", name: "Tool guard", version: "1.2.0", main: "index.js", permissions };
writeFileSync(join(home, "tool-guard/creel.plugin.json"), JSON.stringify(manifest));
const { digest } = JSON.parse(install()) as { digest: string };
install("--accept", digest);

await using host = await openHost({
  isolation: "process",
  lanes: 1,
  logger: silentLogger,
  config,
  plugins: [
    { id: "indexer", source: LOOPER },
    { id: "context-loader", source: SLOW },
    { id: "formatter", source: FLAKY, hooks: { allowConversationAccess: true } },
  ],
});
const tools = projectTools(await findProject({ config }));
await using server = await serveConsole(host, { logger: silentLogger, tools, tokenFile: join(home, "token") });
await using browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox"] });

const tool = (command: string): Promise<{ runId: string }> => {
  const toolName = command.startsWith("cat ") ? "read_file" : "exec";
  return host.run("before_tool_call", { toolName, params: { command } }, { toolName, agentId: "main" });
};
const until = Date.now() + WARM_MS;
for (let at = 0; Date.now() < until; at++) {
  await tool(COMMANDS[at % COMMANDS.length]!);
  if (at === 200) await tool("find / -name secret");
  if (at % 250 === 100) await tool("upload report.txt");
  if (at % 9 === 0) await host.run("message_sending", { to: "me", content: at % 27 === 0 ? "error" : "hello" }, { channelId: "c" });
  await new Promise((done) => setTimeout(done, 10 + 30 * Math.random()));
}
const { runId } = await tool("rm -rf build");
const asked = tool("make install PREFIX=/usr/local");
const VIEWS = {
  overview: "overview",
  runs: "runs",
  run: `run/${runId}`,
  approvals: "approvals",
  plugins: "plugins",
  plugin: "plugins/tool-guard",
  measurements: "measurements",
  incidents: "incidents",
  logs: "logs",
};
for (const colorScheme of ["light", "dark"] as const) {
  const page = await browser.newPage({ viewport: { width: 1120, height: 680 }, colorScheme });
  await page.goto(server.newAddress());
  for (const [name, hash] of Object.entries(VIEWS)) await picture(page, hash, `console-${name}-${colorScheme}`);
  await page.setViewportSize({ width: 400, height: 680 });
  await picture(page, "overview", `console-narrow-${colorScheme}`);
}
const [pending] = await host.pendingApprovals();
await host.answerApproval({ id: pending!.id, digest: pending!.digest, decision: "deny" });
await asked;
rmSync(home, { recursive: true, force: true });

/** Prints what it did, as JSON; the first time it only shows the review, and ends with 1. */
function install(...more: readonly string[]): string {
  const main = join(import.meta.dirname, "../src/cli/main.ts");
  const args = ["-C", "source", main, "install", join(home, "tool-guard"), "--no-grant", "schedule", "--config", config, "--json", ...more];
  try {
    return execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

async function picture(page: Page, hash: string, name: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${hash}`)}`);
  // Everything that the view asks for has come when nothing moves any more.
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: join(OUT, `${name}.png`) });
  process.stdout.write(`${name}\n`);
}

/**
 * Makes the screenshots of the console in docs/images, light and dark: `node -C source scripts/console-pictures.ts`. The host is real: its
 * plugins block, ask, fail and are slow, so that every view has something to show.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { Page } from "playwright-core";
import { openHost } from "creel";
import { serveConsole } from "creel/console";
import { silentLogger } from "../src/host/report/silent-logger.ts";
import { chromiumPath } from "./chromium.ts";

const OUT = join(import.meta.dirname, "../docs/images");
const GUARD = `export default (api) => {
  api.on("before_tool_call", async (event) => {
    const { command = "" } = event.params;
    console.log("checked", command);
    await api.kv.set("last", command);
    if (/\\brm -rf\\b/.test(command)) return { block: true, blockReason: "rm -rf is not allowed: name the files" };
    if (/make install/.test(command))
      return { requireApproval: { title: "Run make install", description: "It changes files outside the workspace.", severity: "warning" } };
  }, { priority: 50 });
};`;
const SLOW = `export default (api) => { api.on("before_tool_call", async () => { await new Promise((done) => setTimeout(done, 4 + Math.random() * 9)); }); };`;
const FLAKY = `export default (api) => { api.on("message_sending", (event) => { if (/error/.test(event.content)) throw new TypeError("cannot read the template"); }); };`;
const COMMANDS = ["ls -la", "git status", "npm test", "rm -rf build", "cat README.md", "make test"];
/** Long enough for several samples of the plots. */
const WARM_MS = 32_000;

const path = await chromiumPath();
if (path === undefined) throw new Error("there is no Chromium here: install it, or set CHROMIUM_PATH");
mkdirSync(OUT, { recursive: true });
await using host = await openHost({
  isolation: "process",
  lanes: 1,
  logger: silentLogger,
  config: { sandbox: { spare: false } },
  plugins: [
    { id: "tool-guard", source: GUARD, grants: { kv: true } },
    { id: "context-loader", source: SLOW },
    { id: "formatter", source: FLAKY, hooks: { allowConversationAccess: true } },
  ],
});
await using server = await serveConsole(host, { logger: silentLogger });
await using browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox"] });

const tool = (command: string): Promise<{ runId: string }> =>
  host.run("before_tool_call", { toolName: "exec", params: { command } }, { toolName: "exec", agentId: "main" });
const until = Date.now() + WARM_MS;
for (let at = 0; Date.now() < until; at++) {
  await tool(COMMANDS[at % COMMANDS.length]!);
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
  plugin: "plugins/tool-guard",
  measurements: "measurements",
};
for (const colorScheme of ["light", "dark"] as const) {
  const page = await browser.newPage({ viewport: { width: 1120, height: 680 }, colorScheme });
  await page.goto(server.newAddress());
  for (const [name, hash] of Object.entries(VIEWS)) await picture(page, hash, `console-${name}-${colorScheme}`);
  if (colorScheme === "light") {
    await page.setViewportSize({ width: 400, height: 680 });
    await picture(page, "overview", "console-narrow");
  }
}
const [pending] = await host.pendingApprovals();
await host.answerApproval({ id: pending!.id, digest: pending!.digest, decision: "deny" });
await asked;

async function picture(page: Page, hash: string, name: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${hash}`)}`);
  // Everything that the view asks for has come when nothing moves any more.
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: join(OUT, `${name}.png`) });
  process.stdout.write(`${name}\n`);
}

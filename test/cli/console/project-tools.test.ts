/** What the console can do with the project's files: replays without consequences, permissions and reviews. In the page, too. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { openHost } from "creel";
import type { Host } from "creel";
import { serveConsole } from "creel/console";
import type { ConsoleServer, ConsoleTools } from "creel/console";
import { projectTools } from "../../../src/cli/console/project-tools.ts";
import { findProject } from "../../../src/cli/plugins/project.ts";
import { DANGEROUS } from "../../../src/protocol/dangerous-text.ts";
import { hasChromium, launched, show, tab } from "../../console/page/browser.ts";
import { operator, pluginFolder } from "../../install/pipeline.ts";
import { folder, QUICK } from "../../support/files.ts";
import { plugin, silent } from "../../support/host.ts";

const GUARD = `export default (api) => {
  api.on("before_tool_call", (event) => (event.params.bad ? { block: true, blockReason: "it is bad" } : undefined));
};`;

const STRICTER = GUARD.replace("event.params.bad", "event.params.command");

let host: Host;
let tools: ConsoleTools;
let server: ConsoleServer;
let dir: string;
let source: string;
let blocked: string;
beforeAll(async () => {
  const home = folder(
    {
      "creel.json": JSON.stringify({ stateDir: "state", record: { enabled: true }, sandbox: { walls: "none", spare: false } }),
    },
    QUICK,
  );
  dir = join(home, "state");
  const permissions = { kv: { reason: "remembers" }, schedule: { reason: "works later" } };
  source = pluginFolder({ id: "guard", permissions }, GUARD);
  await operator(dir).install(source, ["kv"]);
  host = await openHost({
    isolation: "thread",
    lanes: 1,
    logger: silent,
    config: join(home, "creel.json"),
    plugins: [plugin("other", "")],
  });
  for (const params of [{ bad: true, command: "rm" }, { command: "ls" }, { command: "pwd" }]) {
    const { runId, decision } = await host.run("before_tool_call", { toolName: "exec", params });
    if (decision === "block") blocked = runId;
  }
  await host.close();
  host = await openHost({ isolation: "thread", lanes: 1, logger: silent, config: join(home, "creel.json") });
  tools = projectTools(await findProject({ config: join(home, "creel.json") }), { isolation: "thread" });
  server = await serveConsole(host, { logger: silent, tools, tokenFile: join(home, "token") });
});
afterAll(async () => {
  await server?.close();
  await host?.close();
});

/** A newer version is where the plugin was installed from. */
function publish(text: string): void {
  writeFileSync(
    join(
      source,
      readdirSync(source).find((file) => file.startsWith("index."))!,
    ),
    text,
  );
}

const grants = async (): Promise<readonly string[]> => (await tools.refused("guard"))!.map(({ key }) => key);

describe("the tools", () => {
  it("rerun, bisect and what-if answer about recorded runs, as the commands do", async () => {
    expect(await tools.recorded(blocked)).toMatchObject({ params: { bad: true } });
    expect(await tools.recorded("h0-0")).toBeUndefined();
    expect(await tools.rerun(blocked, { toolName: "exec", params: {} })).toMatchObject({
      before: { decision: "block" },
      after: { decision: "pass" },
    });
    expect(await tools.bisect(blocked)).toMatchObject({ plugins: ["guard"], without: { decision: "pass" } });
    expect(await tools.whatIf("guard")).toMatchObject({ runs: 3, changes: [{ before: "block", after: "pass", count: 1 }] });
    expect(await tools.whatIf("guard", "kv")).toMatchObject({ runs: 3, changes: [] });
  });

  it("what a plugin asked for is granted and revoked; what it did not ask for is left to the command, which asks", async () => {
    expect(await grants()).toEqual(["schedule"]);
    await tools.changePermission("grant", "guard", "schedule");
    expect(await grants()).toEqual([]);
    await tools.changePermission("revoke", "guard", "schedule");
    expect(await grants()).toEqual(["schedule"]);
    for (const key of ["env:HOME", "fetch:http://evil.example", "nonsense"])
      await expect(tools.changePermission("grant", "guard", key)).rejects.toMatchObject({ code: "ERR_CONSOLE_GRANT" });
    expect(await tools.refused("other")).toBeUndefined();
  });

  it("an update is looked for and reviewed, and nothing changes", async () => {
    expect(await tools.reviewUpdate("guard")).toMatchObject({ outcome: "unchanged", changes: [] });
    publish(STRICTER);
    const update = await tools.reviewUpdate("guard");
    expect(update).toMatchObject({
      outcome: "available",
      digest: expect.stringContaining("sha256-"),
      replay: { runs: 3, changes: [{ before: "pass", after: "block", count: 2 }] },
    });
    expect(update.changes.join("\n")).toContain("code");
    publish(GUARD);
  });
});

describe.skipIf(!hasChromium)("in the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launched();
  });
  afterAll(() => browser?.close());

  it("a recorded run is run again with an edited event, and the plugins that cause its outcome are named", async () => {
    await using opened = await tab(browser, server);
    const { page } = opened;
    const { runId } = await host.run("before_tool_call", { toolName: "exec", params: { bad: true } });
    // The recorder writes a moment later.
    await expect.poll(() => tools.recorded(runId), { timeout: 10_000 }).toBeDefined();
    await show(page, `#/run/${runId}`);
    // That whole events are kept is in sight.
    await page.locator(".state").getByText("recording events").waitFor();
    await page.getByLabel("event").fill("");
    // Keys of the page, such as 2 and j, are text here.
    await page.getByLabel("event").pressSequentially(`{"toolName":"exec","params":{"j":"/2?"}}`);
    await page.getByRole("button", { name: "Run it again" }).click();
    expect((await page.locator(".rerun").textContent())!.replaceAll(/\s+/g, " ")).toContain("then block guard it is bad · now pass");
    await page.getByRole("button", { name: "Which plugins cause it?" }).click();
    expect((await page.locator(".bisected").textContent())!.replaceAll(/\s+/g, " ")).toMatch(
      /^block by guard: it is bad: caused by guard; without, pass\. ?guard$/,
    );
  });

  it("a long event with hidden characters is run again as it was recorded: they are codes in the editor, and no request is too long", async () => {
    const content = `${"word ".repeat(60_000)}\u202egnp\u2066\u001b[2J`;
    const { runId } = await host.run("before_tool_call", { toolName: "write", params: { bad: true, content } });
    await expect.poll(() => tools.recorded(runId), { timeout: 10_000 }).toBeDefined();
    await using opened = await tab(browser, server);
    const { page } = opened;
    await show(page, `#/run/${runId}`);
    const editor = page.getByLabel("event");
    await editor.waitFor();
    const text = await editor.inputValue();
    expect([text.length > 64 * 1024, new RegExp(`(?!\n)[${DANGEROUS}]`, "u").exec(text)?.[0]]).toEqual([true, undefined]);
    expect(JSON.parse(text)).toMatchObject({ params: { content } });
    await page.getByRole("button", { name: "Run it again" }).click();
    expect(await page.locator(".rerun").textContent()).toMatch(/now block.*it is bad/);
    expect(opened.trouble).toEqual([]);
  });

  it("a plugin's page shows what its absence would change, grants what it asked for, and revokes", async () => {
    await using opened = await tab(browser, server);
    const { page } = opened;
    await show(page, "#/plugins/guard");
    await page.getByRole("button", { name: "Without this plugin" }).click();
    await page.locator(".replayed").waitFor();
    expect(await page.locator(".replayed").textContent()).toMatch(/recorded runs: before_tool_call block → pass/);
    await page.locator(".refused").getByRole("button", { name: "Grant" }).click();
    await page.locator(".refused").getByRole("button", { name: "Grant it now?" }).click();
    await expect.poll(grants, { timeout: 10_000 }).toEqual([]);
    await tools.changePermission("revoke", "guard", "schedule");
    // One click asks, the second takes it away, and the page lists it among what the plugin asks for in vain.
    const row = page.getByRole("row").filter({ has: page.getByRole("cell", { name: "kv", exact: true }) });
    await row.getByRole("button", { name: "Revoke", exact: true }).click();
    expect(await grants()).toEqual(["schedule"]);
    await row.getByRole("button", { name: "Revoke it now?" }).click();
    await expect.poll(grants, { timeout: 10_000 }).toEqual(["schedule", "kv"]);
    await page.locator(".refused").getByRole("cell", { name: "kv", exact: true }).waitFor();
    await tools.changePermission("grant", "guard", "kv");
  });

  it("an update is reviewed on the page: what changed, what recorded runs would be, and the command that accepts exactly it", async () => {
    await using opened = await tab(browser, server);
    const { page } = opened;
    await show(page, "#/plugins/guard");
    const look = page.getByRole("button", { name: "Look for an update" });
    await look.click();
    await page.getByText("It is up to date.").waitFor();
    publish(STRICTER);
    try {
      await look.click();
      const replayed = page.locator(".replayed");
      await replayed.waitFor();
      expect(await replayed.textContent()).toMatch(/recorded runs: before_tool_call pass → block/);
      // Each decision that would change is a row, with its event.
      expect(await replayed.locator("li code").first().textContent()).toContain(`"command":`);
      const status = page.getByRole("status").filter({ has: replayed });
      expect(await status.textContent()).toMatch(/code/);
      expect(await status.textContent()).toMatch(/creel update guard --diff --accept sha256-/);
    } finally {
      publish(GUARD);
    }
    expect((await tools.reviewUpdate("guard")).outcome).toBe("unchanged");
  });
});

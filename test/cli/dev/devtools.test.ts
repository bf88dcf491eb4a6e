/** DevTools' own front end in a real Chromium, as the key `d` of `creel dev` opens it: breakpoints in TypeScript, locals, steps, reloads. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { chromium } from "playwright-core";
import type { Browser, Locator, Page } from "playwright-core";
import { openHost } from "creel";
import type { Host } from "creel";
import { browserTests, findChromium } from "../../../scripts/chromium.ts";
import { openDevtools } from "../../../src/cli/dev/devtools.ts";
import type { DevTools } from "../../../src/cli/dev/devtools.ts";
import type { InspectAddress } from "../../../src/host/inspect/door.ts";
import { creelHere } from "../../support/cli-in-process.ts";
import { folder } from "../../support/files.ts";
import { silent } from "../../support/host.ts";

const SOURCE = `type Word = string;

function judge(command: Word): { block: boolean; blockReason: string } | undefined {
  let words: Word[] = command.split(" ");
  let isBad = words.includes("rm");
  if (isBad) return { block: true, blockReason: "no " + words[0] };
  return undefined;
}

export default (api) => {
  api.on("before_tool_call", (event) => judge(String(event.params.command)));
};
`;
const found = await findChromium();
const { path } = found;
if (path === undefined)
  console.warn(browserTests(found, { isCi: Boolean(process.env.CI), isRoot: process.getuid?.() === 0, platform: process.platform }));
const event = { toolName: "exec", params: { command: "rm -rf" } };

describe.runIf(path !== undefined)("DevTools", { timeout: 120_000 }, () => {
  const plugin = folder({
    "plugin.ts": SOURCE,
    "creel.plugin.json": `{ "id": "guarded", "main": "plugin.ts" }`,
    // Chromium's own sandbox does not start as root; the pages are its own.
    "browser.sh": `#!/bin/sh\nexec ${path} --headless=new --no-sandbox "$@"\n`,
  });
  let host: Host;
  let tools: DevTools | undefined;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    chmodSync(join(plugin, "browser.sh"), 0o755);
    vi.stubEnv("CHROME_PATH", join(plugin, "browser.sh"));
    let address: InspectAddress | undefined;
    const inspect = { plugin: "guarded", port: 0, listening: (one: InspectAddress) => (address = one) };
    host = await openHost({ isolation: "thread", lanes: 1, plugins: [{ path: plugin }], logger: silent, inspect });
    tools = await openDevtools(address!);
    browser = await chromium.connectOverCDP(`http://127.0.0.1:${tools!.port}`);
    page = browser
      .contexts()[0]!
      .pages()
      .find((one) => one.url().includes("/devtools/js_app.html"))!;
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    tools?.[Symbol.dispose]();
    await host?.close();
    vi.unstubAllEnvs();
  });

  // After a reload DevTools may hear of the pause before it knows its breakpoint again.
  const paused = (): Locator =>
    page
      .getByText(/Paused on breakpoint|Debugger paused/)
      .filter({ visible: true })
      .first();
  /** Until the page shows it: the next pause is another one. */
  const resume = async (): Promise<void> => {
    await page.keyboard.press("F8");
    await paused().waitFor({ state: "detached" });
  };

  /** The Performance panel opens a list of its shortcuts, sooner or later, which lies over all of the page. */
  const choose = async (what: Locator): Promise<void> => {
    const isDone = (): Promise<boolean> =>
      what.click({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
    while (!(await isDone())) await page.keyboard.press("Escape");
  };

  it("breaks on a line of TypeScript that was clicked; a local that is changed in its console decides", async () => {
    await page.getByRole("tab", { name: "Sources" }).first().click();
    await page.keyboard.press("Control+p");
    await page.getByText("Open", { exact: true }).first().waitFor();
    await page.keyboard.type("plugin.ts:5");
    await page.getByText("plugin.ts").first().waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^5$/ }).click();
    await page.locator(".cm-breakpoint").first().waitFor();
    const running = host.run("before_tool_call", event);
    await paused().waitFor();
    await page.keyboard.press("Control+Backquote");
    // On a busy machine the drawer opens later: what is typed before would go into the source.
    await page.locator("#console-prompt .cm-focused").waitFor();
    await page.keyboard.type("words = ['ls']");
    await page.locator("#console-prompt .cm-content").getByText("words = ['ls']", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".console-user-command-result").first().waitFor();
    await resume();
    expect((await running).decision).toBe("pass");
  });

  it("keeps the breakpoint when the plugin is loaded again, and steps on from it", async () => {
    writeFileSync(join(plugin, "plugin.ts"), SOURCE.replace('"no "', '"never "'));
    await host.reload("guarded");
    const running = host.run("before_tool_call", event);
    await paused().waitFor();
    await page.keyboard.press("F10");
    await page.locator(".cm-executionLine, .cm-execution-line").getByText("if (isBad)").waitFor();
    await resume();
    expect(await running).toMatchObject({ decision: "block", reason: "never rm" });
  });

  it("opens the file of creel profile in its Performance panel: the author's function, file and line, with nearly all of the time", async () => {
    const spin = `const spin = (): number => {\n  let sum = 0;\n  for (let at = 0; at < 2e7; at++) sum += Math.sqrt(at);\n  return sum;\n};\n`;
    const slow = folder({
      "index.ts": `export default (api) => {\n  api.on("before_tool_call", () => void spin());\n};\n${spin}`,
      "creel.plugin.json": `{ "id": "slow", "main": "index.ts" }`,
    });
    const file = join(slow, "slow.cpuprofile");
    expect((await creelHere("profile", slow, "--event", JSON.stringify(event), "--out", file)).code).toBe(0);
    await choose(page.getByRole("tab", { name: "Performance" }));
    await page.locator("input[type=file]").first().setInputFiles(file);
    const tab = page.getByRole("tab", { name: "Bottom-up" });
    await tab.waitFor();
    await choose(tab);
    // The function begins in line 4.
    const row = page.locator("tr", { hasText: /spin.*index\.ts:4:/ }).first();
    // Its total time: V8 may collect garbage in it.
    expect(Number(/%.*?([\d.]+)\s%/.exec((await row.textContent())!)![1])).toBeGreaterThan(80);
  });

  it("stops where an exception is thrown, and a window that is closed meanwhile leaves the plugin going on", async () => {
    await choose(page.getByRole("tab", { name: "Sources" }).first());
    await choose(page.locator(".cm-breakpoint").first());
    await page.locator(".cm-breakpoint").first().waitFor({ state: "detached" });
    writeFileSync(
      join(plugin, "plugin.ts"),
      SOURCE.replace("let isBad", 'if (words[0] === "throw") throw new Error("on purpose");\n  let isBad'),
    );
    await host.reload("guarded");
    for (const kind of ["uncaught", "caught"]) await page.getByText(`Pause on ${kind} exceptions`).first().dispatchEvent("click");
    const running = host.run("before_tool_call", { toolName: "exec", params: { command: "throw" } });
    await page
      .getByText(/Paused on (?:exception|promise rejection)/)
      .filter({ visible: true })
      .first()
      .waitFor();
    await page.close();
    expect((await running).calls[0]).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("on purpose") as string },
    });
    expect((await host.run("before_tool_call", event)).decision).toBe("block");
  });
});

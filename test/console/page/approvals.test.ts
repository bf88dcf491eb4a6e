/** The console in a real browser: what a click on an approval decides when the list of approvals moves under the pointer. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { serveConsole } from "creel/console";
import { hasChromium, launched, show, tab } from "./browser.ts";
import type { InPage } from "./browser.ts";
import { open, plugin, silent } from "../../support/host.ts";

declare const document: InPage;
declare const window: InPage;
declare const MutationObserver: InPage;

const ASKS = `api.on("before_tool_call", (event) => ({ requireApproval: { title: "title " + event.params.n, description: "d" } }));`;

describe.skipIf(!hasChromium)("approvals in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launched();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
  });

  it("a card that slides under the pointer is not armed: the click that was meant for the card that went away decides nothing", async () => {
    await using host = await open("thread", { lanes: 1, plugins: [plugin("p", ASKS)] });
    await using server = await serveConsole(host, { logger: silent });
    await using opened = await tab(browser, server);
    const { page } = opened;
    await show(page, "#/approvals");
    const runs: Promise<unknown>[] = [];
    for (const n of [1, 2]) {
      runs.push(host.run("before_tool_call", { toolName: "t", params: { n } }));
      await page
        .locator("[data-approval]")
        .nth(n - 1)
        .waitFor();
    }
    const primary = page.locator("[data-approval]").getByRole("button", { name: "Allow once", exact: true });
    // Both are armed, and have been for a while.
    await Promise.all([primary.nth(0).click({ trial: true }), primary.nth(1).click({ trial: true })]);
    // Presses the first button of the page in the moment in which the first card goes away.
    await page.evaluate(() => {
      new MutationObserver(() => {
        const cards = document.querySelectorAll("[data-approval]");
        if (cards.length !== 1 || "pressed" in window) return;
        const button = cards[0].querySelector("button.primary");
        Object.assign(window, { pressed: button.disabled });
        button.click();
      }).observe(document.body, { childList: true, subtree: true });
    });
    const pending = await host.pendingApprovals();
    const gone = pending.find(({ params }) => params?.n === 1)!;
    await host.answerApproval({ id: gone.id, digest: gone.digest, decision: "deny", by: "a colleague" });
    await expect.poll(() => page.evaluate(() => window.pressed as boolean | undefined), { timeout: 10_000 }).toBe(true);
    expect(await host.pendingApprovals()).toHaveLength(1);
    // It is armed again when it has stayed where it is.
    await primary.click();
    await Promise.all(runs);
    const ledger = await host.approvalLedger({ limit: 2 });
    expect(ledger.map(({ titles, resolution }) => [titles, resolution])).toEqual([
      [["title 2"], "allow-once"],
      [["title 1"], "deny"],
    ]);
    expect(opened.trouble).toEqual([]);
  });
});

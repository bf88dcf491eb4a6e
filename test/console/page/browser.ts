/** A browser and pages of the console for tests. One browser per file; each page is a tab of its own profile, and so a session of its own. */
import { chromium } from "playwright-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { ConsoleServer } from "creel/console";
import { browserTests, findChromium } from "../../../scripts/chromium.ts";

/** Undefined: tests are skipped. It may have to be installed first. */
const found = await findChromium();
const { path } = found;
export const hasChromium = path !== undefined;
const here = { isCi: Boolean(process.env.CI), isRoot: process.getuid?.() === 0, platform: process.platform };
if (!hasChromium) console.warn(browserTests(found, here));

/** Names for 127.0.0.1 that a hostile page would have. */
const ELSEWHERE = ["rebind.example", "evil.example"];

export function launched(): Promise<Browser> {
  const rules = ELSEWHERE.map((name) => `MAP ${name} 127.0.0.1`).join(",");
  // Chromium's own sandbox does not start as root; the pages are ours.
  return chromium.launch({ executablePath: path!, args: ["--no-sandbox", `--host-resolver-rules=${rules}`] });
}

export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** What must not happen in a page: exceptions, refused content, dialogs. */
  readonly trouble: string[];
}

export async function tab(browser: Browser, server: ConsoleServer, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("console", (line) => {
    if (/Content Security Policy|TrustedHTML|Trusted/.test(line.text())) trouble.push(line.text());
  });
  page.on("dialog", (dialog) => {
    trouble.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(server.newAddress());
  await page.getByText("live", { exact: true }).waitFor();
  return { page, trouble, [Symbol.asyncDispose]: () => context.close() };
}

/** What functions that run in the page use of it. The repository is checked without the types of browsers. */
// oxlint-disable-next-line typescript/no-explicit-any
export type InPage = any;
declare const location: InPage;

/** Shows another view without a new document. */
export async function show(page: Page, hash: string): Promise<void> {
  await page.evaluate((address) => {
    location.hash = address;
  }, hash);
}

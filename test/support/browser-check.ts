/** Before any test, in CI: installs Chromium once, instead of several files at a time, and says whether tests in a browser run. */
import { browserTests, findChromium } from "../../scripts/chromium.ts";

export default async function setup(): Promise<void> {
  if (!process.env.CI) return;
  const found = await findChromium();
  process.stderr.write(`${browserTests(found, { isCi: true, isRoot: process.getuid?.() === 0, platform: process.platform })}\n`);
}

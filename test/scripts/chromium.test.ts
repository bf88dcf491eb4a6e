import { expect, it } from "vitest";
import { browserTests } from "../../scripts/chromium.ts";

const ci = { isCi: true, isRoot: true, platform: "linux" } as const;
const none = { why: "apt is away" };

it("tests in a browser are never skipped in silence, and not at all by a CI that may install Chromium", () => {
  expect(() => browserTests(none, ci)).toThrow(/CI is set.*would be skipped.*apt is away/);
  for (const elsewhere of [{ isCi: false }, { isRoot: false }, { platform: "darwin" as const }])
    expect(browserTests(none, { ...ci, ...elsewhere })).toMatch(/^TESTS IN A BROWSER ARE SKIPPED: .*apt is away$/);
  expect(browserTests({ path: "/usr/bin/chromium" }, ci)).toBe("Tests in a browser run in /usr/bin/chromium.");
});

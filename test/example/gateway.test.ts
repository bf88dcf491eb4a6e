/** examples/gateway with the packed package, started by its one command, in a real Chromium: a message, an approval, a blocked tool and a stopped plugin, each seen on the page. */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { chromium as playwright } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserTests, findChromium } from "../../scripts/chromium.ts";
import { folder } from "../support/files.ts";
import { managerEnv, packedCreel } from "../support/packed.ts";
import { noRegistry } from "../support/real-registry.ts";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

describe("the example gateway", { timeout: 60_000 }, () => {
  let home = "";
  let env: Record<string, string> = {};
  /** Why it cannot be tried; undefined: it can. */
  let missing: string | undefined;
  let gateway: ChildProcess | undefined;
  let browser: Browser | undefined;
  let page: Page;
  beforeAll(async () => {
    home = folder({});
    env = await managerEnv({ PORT: "0" });
    cpSync(join(ROOT, "examples/gateway"), home, { recursive: true, filter: (path) => !path.includes("node_modules") });
    const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { dependencies: Record<string, string> };
    manifest.dependencies.creel = `file:${(await packedCreel()).tarball}`;
    writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
    rmSync(join(home, "package-lock.json"), { force: true });
    missing = await noRegistry("fastify", env);
    if (missing !== undefined) return;
    // A group: npm and the gateway.
    const started = spawn("npm", ["start"], { cwd: home, env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
    gateway = started;
    let address = "";
    const lines = createInterface({ input: started.stdout });
    for await (const line of lines)
      if (line.startsWith("open ")) {
        address = line.slice("open ".length);
        break;
      }
    if (address === "") throw new Error("npm start ended before the gateway listened");
    started.stdout.resume();
    const found = await findChromium();
    const said = browserTests(found, { isCi: Boolean(process.env.CI), isRoot: process.getuid?.() === 0, platform: process.platform });
    if (found.path === undefined) {
      missing = said;
      return;
    }
    browser = await playwright.launch({ executablePath: found.path, args: ["--no-sandbox", "--disable-gpu"] });
    page = await browser.newPage();
    await page.goto(address);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    if (!gateway) return;
    // As Ctrl-C at a terminal: npm and the gateway hear it. Its output ends when nothing of them is left.
    process.kill(-gateway.pid!, "SIGINT");
    const [code, signal] = (await once(gateway, "close")) as [number | null, string | null];
    if (code !== 0 && signal !== "SIGINT") throw new Error(`npm start ended with ${code ?? signal}`);
  });

  const say = async (text: string): Promise<void> => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const sees = (kind: string, text: string): Promise<void> => page.locator(`li.${kind}`, { hasText: text }).first().waitFor();

  it("compiles under strict TypeScript", async (test) => {
    test.skip(missing?.startsWith("npm") === true, missing);
    const compiled = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", home, "--typeRoots", join(ROOT, "node_modules/@types")]).catch(
      (error: { stdout: string }) => error,
    );
    expect(compiled.stdout).toBe("");
  });

  it("shows a message and its answer, and a tool that ran", async (test) => {
    test.skip(missing !== undefined, missing);
    await say("hello");
    await sees("user", "hello");
    await sees("agent", 'You said "hello"');
    await say("run ls");
    await sees("tool", 'pretended to run "ls"');
    expect(await page.locator("li.blocked").count()).toBe(0);
  });

  it("shows a tool that a plugin has blocked, and why", async (test) => {
    test.skip(missing !== undefined, missing);
    await say("run rm -rf build");
    await sees("blocked", "command-guard blocked it: deleting is not for agents");
    expect(await page.locator("li.tool", { hasText: "rm -rf" }).count()).toBe(0);
  });

  it.for([
    ["Deny", "you denied it", "blocked"],
    ["Allow", "you allowed it", "tool"],
  ] as const)("asks the person, and %s counts", async ([button, answered, ending], test) => {
    test.skip(missing !== undefined, missing);
    const before = await page.locator(`li.${ending}`).count();
    await say("run git push");
    await page.locator("li.approval").last().getByRole("button", { name: button, disabled: false }).click();
    await sees("answered", answered);
    await page.locator(`li.${ending}`).nth(before).waitFor();
    expect(await page.locator("li.approval").last().textContent()).toContain('command-guard asks: Publish. Run "git push"?');
  });

  it("shows a plugin that was stopped, and the chat goes on", async (test) => {
    test.skip(missing !== undefined, missing);
    await say("loop, please");
    await sees("stopped", "endless-loop was stopped: the handler used up its");
    await say("still there?");
    await sees("agent", "still there?");
    expect(await page.locator("li.stopped").count()).toBeGreaterThan(0);
  });
});

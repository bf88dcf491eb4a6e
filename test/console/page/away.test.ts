/** The console of a host in another process, which is killed and started again; and of a console that has ended. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { openHost } from "creel";
import { serveConsole } from "creel/console";
import { CACHE } from "../../support/creel.ts";
import { hasChromium, launched, show, tab } from "./browser.ts";
import { folder } from "../../support/files.ts";
import { silent } from "../../support/host.ts";

const root = join(import.meta.dirname, "../../..");
const children: ChildProcess[] = [];

/** A `creel serve` that can be killed as the kernel would. */
async function serveIn(dir: string): Promise<ChildProcess> {
  const args = ["-C", "source", join(root, "src/cli/main.ts"), "serve", "--isolation", "thread", "--socket", join(dir, "s.sock"), "--json"];
  const env = { PATH: process.env.PATH ?? "", HOME: dir, NODE_COMPILE_CACHE: CACHE };
  const child = spawn(process.execPath, args, { cwd: dir, env, stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  await once(createInterface({ input: child.stdout }), "line");
  return child;
}

describe.skipIf(!hasChromium)("a page whose other end is gone", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launched();
  });
  afterAll(async () => {
    await browser?.close();
    for (const child of children) child.kill("SIGKILL");
  });

  it(
    "the host is killed: the page says so and keeps what it has; the host is started again: the page goes on by itself",
    { timeout: 120_000 },
    async () => {
      const dir = folder({
        "creel.json": JSON.stringify({
          stateDir: "state",
          sandbox: { spare: false, walls: "none" },
          plugins: { load: { paths: ["guard"] } },
        }),
        "guard/index.js": `export default (api) => { api.on("before_tool_call", () => ({ block: true, blockReason: "no" })); };`,
        "guard/creel.plugin.json": `{"id":"guard","main":"index.js","version":"1.0.0"}`,
      });
      const first = await serveIn(dir);
      await using host = await openHost({ connect: join(dir, "s.sock"), logger: silent });
      await using server = await serveConsole(host, { logger: silent, tokenFile: join(dir, "token") });
      await using opened = await tab(browser, server);
      const { page } = opened;
      await show(page, "#/runs");
      const { runId } = await host.run("before_tool_call", { toolName: "exec", params: {} });
      await page.locator(`.row[href="#/run/${runId}"]`).waitFor();
      const ended = once(first, "exit");
      first.kill("SIGKILL");
      await ended;
      await page.getByRole("alert").getByText("The host does not answer").waitFor();
      expect(await page.locator(".state").textContent()).toContain("host gone");
      expect(await page.locator(`.row[href="#/run/${runId}"]`).count()).toBe(1);
      await serveIn(dir);
      await page.getByText("live", { exact: true }).waitFor();
      const again = await host.run("before_tool_call", { toolName: "exec", params: {} });
      await page.locator(`.row[href="#/run/${again.runId}"]`).waitFor();
      // Its runs are other runs: those of the host that was killed are not mixed with them.
      expect(await page.locator(`.row[href="#/run/${runId}"]`).count()).toBe(0);
    },
  );

  it("the console ends: the page says that it is disconnected; the token died with it", async () => {
    const options = { isolation: "thread", lanes: 1, logger: silent, config: { sandbox: { spare: false, walls: "none" } } } as const;
    await using host = await openHost(options);
    const server = await serveConsole(host, { logger: silent });
    await using opened = await tab(browser, server);
    const { page } = opened;
    await page.getByText("This host has no plugins").waitFor();
    const { port } = server;
    await server.close();
    await page.getByRole("alert").getByText("Disconnected").waitFor();
    expect(await page.locator(".state").textContent()).toContain("disconnected");
    await using _next = await serveConsole(host, { port, logger: silent });
    await page.getByText("You are not signed in").waitFor();
  });
});

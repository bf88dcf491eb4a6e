/** Attacks on the console from a browser: what pages of other origins try while a person has the console open. */
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { openHost } from "creel";
import type { Host } from "creel";
import { serveConsole } from "creel/console";
import type { ConsoleServer } from "creel/console";
import { hasChromium, launched, tab } from "./browser.ts";
import type { InPage } from "./browser.ts";
import { plugin, silent } from "../../support/host.ts";

declare const document: InPage;
declare const window: InPage;
declare const location: InPage;

let host: Host;
let server: ConsoleServer;
let browser: Browser;
/** Serves an empty page on another port: another dev server of the same machine, or under another name, a page of the web. */
let elsewhere: Server;
let port: number;
const seen: { readonly path: string | undefined; readonly cookie: string | undefined; readonly referer: string | undefined }[] = [];

/** A page of another origin, in the browser of a person who has the console open with the token that is known here. */
async function evil(name: string): Promise<{ context: BrowserContext; page: Page; token: string } & AsyncDisposable> {
  const opened = await tab(browser, server);
  const token = (await opened.page.evaluate(() => sessionStorage.getItem("creel.console.token")))!;
  expect(token).toMatch(/^[\w-]{43}$/);
  const context = opened.page.context();
  const page = await context.newPage();
  await page.goto(`http://${name}:${port}/`);
  return { context, page, token, [Symbol.asyncDispose]: () => context.close() };
}

describe.skipIf(!hasChromium)("attacks from a browser", () => {
  beforeAll(async () => {
    host = await openHost({
      isolation: "thread",
      lanes: 1,
      logger: silent,
      plugins: [plugin("guard", `api.on("before_tool_call", () => ({ block: true }));`)],
      config: { sandbox: { spare: false, walls: "none" } },
    });
    server = await serveConsole(host, { logger: silent });
    browser = await launched();
    elsewhere = createServer((request, response) => {
      // Browsers ask for an icon when they like.
      const { cookie, referer } = request.headers;
      if (request.url !== "/favicon.ico") seen.push({ path: request.url, cookie, referer });
      response.setHeader("content-type", "text/html").end("<!doctype html><title>evil</title>");
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    port = (elsewhere.address() as AddressInfo).port;
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await host?.close();
    await new Promise((resolve) => elsewhere?.close(resolve));
  });

  it("the code of an address that is opened in a signed-in tab is out of the address at once and used up; a wrong one signs nobody out", async () => {
    await using opened = await tab(browser, server);
    const { page } = opened;
    const again = server.newAddress();
    const before = await page.evaluate(() => sessionStorage.getItem("creel.console.token"));
    // The same document: only the fragment changes.
    await page.goto(again);
    await expect.poll(() => page.evaluate(() => sessionStorage.getItem("creel.console.token"))).not.toBe(before);
    expect(new URL(page.url()).hash).toBe("#/overview");
    const redeem = (code: string) =>
      page.evaluate(async (body) => {
        const headers = { "content-type": "application/json", "x-creel-console": "1" };
        return (await fetch("/session", { method: "POST", headers, body })).status;
      }, JSON.stringify({ code }));
    expect(await redeem(new URL(again).hash.slice(1))).toBe(401);
    const refused = page.waitForResponse((response) => response.url().endsWith("/session"));
    await page.goto(`${server.origin}/#${"x".repeat(43)}`);
    expect((await refused).status()).toBe(401);
    expect(new URL(page.url()).hash).toBe("#/overview");
    await page.locator(".tiles").waitFor();
    await page.getByText("live", { exact: true }).waitFor();
  });

  it.each(["127.0.0.1", "evil.example"])(
    "cross-site request forgery from %s: simple, no-cors, form and JSON requests change nothing, with the stolen token too",
    async (name) => {
      await using attack = await evil(name);
      const { page, token } = attack;
      const answers = await page.evaluate(
        async ({ origin, token: stolen }) => {
          const body = JSON.stringify({ method: "disable", params: { plugin: "guard" } });
          const json = { "content-type": "application/json" };
          const tried = (options: RequestInit): Promise<string> =>
            fetch(`${origin}/rpc`, { method: "POST", body, ...options }).then(
              (response) => `${response.type} ${response.status}`,
              () => "refused",
            );
          const form = document.createElement("form");
          Object.assign(form, { method: "post", action: `${origin}/rpc`, enctype: "text/plain", target: "sink" });
          const frame = Object.assign(document.createElement("iframe"), { name: "sink" });
          document.body.append(frame, form);
          form.submit();
          return [
            await tried({ credentials: "include" }),
            await tried({ headers: json }),
            await tried({ headers: { ...json, authorization: `Bearer ${stolen}` } }),
            await tried({ mode: "no-cors" }),
            await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${stolen}` } }).then(String, () => "refused"),
          ];
        },
        { origin: server.origin, token },
      );
      expect(answers).toEqual(["refused", "refused", "refused", "refused", "refused"]);
      expect(host.inspect("guard").status).toBe("ready");
    },
  );

  it("clickjacking: no page can frame the console", async () => {
    await using attack = await evil("127.0.0.1");
    const { page } = attack;
    await page.evaluate((address) => {
      const frame = Object.assign(document.createElement("iframe"), { src: address });
      return new Promise((resolve) => {
        frame.addEventListener("load", resolve);
        document.body.append(frame);
      });
    }, server.newAddress());
    const framed = page.frames().at(-1)!;
    expect(framed.url()).not.toContain(server.origin);
    expect(await framed.locator("nav").count()).toBe(0);
  });

  it("DNS rebinding: under another name the port answers nothing, though the page is of the same origin to the browser", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    for (const path of ["/", "/metrics", "/feed"])
      await expect(page.goto(`http://rebind.example:${server.port}${path}`)).rejects.toThrow("ERR_HTTP_RESPONSE_CODE_FAILURE");
    await context.close();
  });

  it("an address to connect to: the page speaks to its own origin alone, whatever its own address says", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const before = seen.length;
    const address = new URL(server.newAddress());
    const target = `http://127.0.0.1:${port}`;
    address.search = new URLSearchParams({ gatewayUrl: target, host: target, url: target, server: target }).toString();
    await page.goto(address.href);
    await page.getByText("live", { exact: true }).waitFor();
    const blocked = await page.evaluate((url) => fetch(`${url}/leak`, { mode: "no-cors" }).then(String, () => "refused"), target);
    expect([blocked, seen.length]).toEqual(["refused", before]);
    await context.close();
  });

  it("secrets at rest: the code leaves the address at once, the token is for one tab, and nothing is in cookies or localStorage", async () => {
    await using opened = await tab(browser, server);
    const { page } = opened;
    const kept = await page.evaluate(() => ({
      hash: location.hash,
      cookie: document.cookie,
      local: localStorage.length,
      session: sessionStorage.length,
    }));
    expect(kept).toEqual({ hash: "#/overview", cookie: "", local: 0, session: 1 });
    const other = await page.context().newPage();
    await other.goto(server.origin);
    await other.getByText("You are not signed in").waitFor();
    // The two ways out of the page: a new window, and the same tab. Both have arrived before the headers are looked at.
    const target = `http://127.0.0.1:${port}`;
    const [popup] = await Promise.all([page.waitForEvent("popup"), page.evaluate((url) => void window.open(url), `${target}/opened`)]);
    await popup.waitForLoadState();
    expect(await popup.evaluate(() => [document.referrer, window.opener])).toEqual(["", null]);
    await page.evaluate((url) => void (location.href = url), `${target}/left`);
    await page.waitForURL(`${target}/left`);
    expect(seen.filter(({ path }) => path === "/opened" || path === "/left")).toEqual([
      { path: "/opened", cookie: undefined, referer: undefined },
      { path: "/left", cookie: undefined, referer: undefined },
    ]);
    // The same from a page without the console's headers is seen here: this test can fail.
    const open = await page.context().newPage();
    await open.goto(`${target}/plain`);
    await open.evaluate(() => void (document.cookie = "plain=1"));
    await Promise.all([open.waitForURL(`${target}/after`), open.evaluate((url) => void (location.href = url), `${target}/after`)]);
    expect(seen.at(-1)).toEqual({ path: "/after", cookie: "plain=1", referer: `${target}/plain` });
  });

  it("script injection: what would make code or markup of text is refused by the browser itself", async () => {
    await using opened = await tab(browser, server);
    const refused = await opened.page.evaluate(async () => {
      // Code that a debugger evaluates may make code; a timer's may not.
      await new Promise((resolve) => setTimeout(resolve));
      // oxlint-disable-next-line unicorn/consistent-function-scoping -- the browser gets this function alone
      const tried = (work: () => unknown): string => {
        try {
          work();
          return "done";
        } catch {
          return "refused";
        }
      };
      const script = document.createElement("script");
      return [
        tried(() => (document.body.innerHTML = "<b>x</b>")),
        tried(() => (script.text = "1")),
        await new Promise((resolve) => setTimeout(() => resolve(tried(() => window.eval("1"))))),
        tried(() => window.trustedTypes.createPolicy("mine", {})),
      ];
    });
    expect(refused).toEqual(["refused", "refused", "refused", "refused"]);
  });
});

/** A run that ran out of CPU time or memory: the console makes the author's lines itself when somebody who may act looks at it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { openHost } from "creel";
import type { Host, Outcome } from "creel";
import { serveConsole } from "creel/console";
import type { ConsoleServer, ConsoleTools } from "creel/console";
import { projectTools } from "../../../src/cli/console/project-tools.ts";
import { findProject } from "../../../src/cli/plugins/project.ts";
import { profilePath } from "../../../src/host/inspect/stored-profile.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { RunDetail } from "../../../src/protocol/live-report.ts";
import { hasChromium, launched, show, tab } from "../../console/page/browser.ts";
import { creelHere } from "../../support/cli-in-process.ts";
import { folder, QUICK } from "../../support/files.ts";
import { silent } from "../../support/host.ts";

/** The slow line is line 5, three calls deep; the one that fills the heap is line 11. */
const INDEX = `export default (api) => {
  api.on("before_tool_call", (event) => { judge(String(event.params.command)); });
  api.on("message_sending", (event) => { if (event.content === "fill") fill(); });
};
const isPlain = (text) => /^(a+)+$/.test(text);
const judge = (text) => { if (looks(text)) throw new Error("plain"); };
const looks = (text) => isPlain(text);
class Town { constructor(name) { this.name = name; } }
function fill() {
  const kept = [];
  for (let at = 0; ; at++) kept.push(new Town("x" + at));
}
`;

const guilty = folder({ "index.js": INDEX, "creel.plugin.json": `{ "id": "guilty", "main": "index.js" }` }, QUICK);
const home = folder(
  {
    "creel.json": JSON.stringify({
      stateDir: "state",
      sandbox: { walls: "none", spare: false },
      // To fill the heap takes about as much processor time as a call has.
      plugins: {
        load: { paths: [guilty] },
        entries: { guilty: { hooks: { budgets: { message_sending: { cpuMs: 1_000, timeoutMs: 10_000 } } } } },
      },
    }),
  },
  QUICK,
);
const config = join(home, "creel.json");
const stateDir = join(home, "state");

let host: Host;
let tools: ConsoleTools;
let server: ConsoleServer;
beforeAll(async () => {
  host = await openHost({ config, lanes: 1, logger: silent });
  tools = projectTools(await findProject({ config }));
  server = await serveConsole(host, { logger: silent, tools, tokenFile: join(home, "token") });
});
afterAll(async () => {
  await server?.close();
  await host?.close();
});

/** A run that fails so. A machine that is too busy may end it for another reason first. */
async function failing(code: RegExp, run: () => Promise<Outcome>): Promise<RunDetail> {
  const seen: unknown[] = [];
  for (let tries = 0; tries < 5; tries++) {
    const { runId, calls } = await run();
    await host.release("guilty");
    if (code.test(calls[0]!.error?.code ?? "")) return (await host.runDetail(runId))!;
    seen.push(calls[0]!.error);
  }
  throw new Error(`no call failed with ${code.source}: ${JSON.stringify(seen)}`);
}
const slow = () =>
  failing(/^ERR_CALL_(?:CPU|TURN)$/, () => host.run("before_tool_call", { toolName: "exec", params: { command: `${"a".repeat(40)}!` } }));
const full = () => failing(/^ERR_CALL_MEMORY$/, () => host.run("message_sending", { to: "me", content: "fill" }, { channelId: "c" }));

/** As the page does it: a session of a code, then a method. */
async function client(to: ConsoleServer): Promise<(method: string, params: object) => Promise<{ status: number; ok?: unknown }>> {
  const post = (path: string, headers: Record<string, string>, body: object): Promise<Response> =>
    fetch(to.origin + path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
  const code = new URL(to.newAddress()).hash.slice(1);
  const { token } = (await (await post("/session", { "x-creel-console": "1" }, { code })).json()) as { token: string };
  return async (method, params) => {
    const response = await post("/rpc", { authorization: `Bearer ${token}` }, { method, params });
    return { status: response.status, ...(response.ok && ((await response.json()) as { ok: unknown })) };
  };
}

describe("over HTTP", { timeout: 120_000 }, () => {
  it("the lines where the CPU time went are made for a session that may act, and then in the run's data for every reader", async () => {
    const { runId } = await slow();
    await using looking = await serveConsole(host, { logger: silent, tools, readOnly: true, tokenFile: join(folder({}), "t") });
    const [reader, actor] = [await client(looking), await client(server)];
    expect(await reader("blame", { runId })).toEqual({ status: 403 });
    expect((await reader("run", { runId })).ok).not.toHaveProperty("profile");
    const slowest = { line: 5, function: "isPlain", code: expect.stringContaining("(a+)+") };
    const lines = expect.arrayContaining([expect.objectContaining(slowest)]);
    expect((await actor("blame", { runId })).ok).toMatchObject({ profile: { plugin: "guilty", lines } });
    expect((await reader("run", { runId })).ok).toMatchObject({ profile: { plugin: "guilty", lines } });
    expect(existsSync(profilePath(stateDir, runId, "guilty"))).toBe(true);
  });

  it("of memory: which constructors grew, and where", async () => {
    const { runId } = await full();
    const actor = await client(server);
    const { ok } = await actor("blame", { runId });
    expect(ok).toMatchObject({
      memory: { plugin: "guilty", stack: expect.arrayContaining([expect.objectContaining({ line: 11, function: "fill" })]) },
    });
    expect((ok as { memory: { grew: { name: string }[] } }).memory.grew.map(({ name }) => name)).toContain("Town");
    expect((await actor("run", { runId })).ok).toMatchObject({ memory: { plugin: "guilty" } });
  });

  it("a run that the host has forgotten, and one whose event was not kept, has a sentence instead", async () => {
    const actor = await client(server);
    expect((await actor("blame", { runId: "h0-0" })).ok).toEqual({ unknown: "the host no longer has this run" });
    const { event: _, ...cut } = await slow();
    expect(await tools.blame(cut)).toEqual({ unknown: expect.stringContaining(`the event of run ${cut.runId} was not kept whole: set`) });
  });

  it("a plugin that the project does not have cannot be run again, and the answer says so", async () => {
    const empty = folder({ "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none", "spare": false } }` }, QUICK);
    const elsewhere = projectTools(await findProject({ config: join(empty, "creel.json") }));
    expect(await elsewhere.blame(await slow())).toEqual({ unknown: 'the project here has no plugin "guilty" that loads' });
  });

  it("`creel explain` says so, too, instead of saying nothing", async () => {
    const { runId } = await slow();
    const other = folder({ "creel.json": JSON.stringify({ stateDir, sandbox: { walls: "none", spare: false } }) }, QUICK);
    const explain = async (...more: string[]) => creelHere("explain", runId, "--config", join(other, "creel.json"), ...more);
    // The audit log is written a moment later.
    await expect
      .poll(async () => (await explain()).out.replaceAll(/\s+/g, " "), { timeout: 30_000 })
      .toContain('There are no lines of the source: the project here has no plugin "guilty" that loads');
    expect(JSON.parse((await explain("--json")).out)).toMatchObject({ unknown: expect.stringContaining("no plugin") });
    expect((await explain("--no-profile")).out).not.toContain("no lines of the source");
  });

  it("a run is profiled once for all who ask, one run at a time, and no more than a few wait", async () => {
    const detail = await slow();
    const all = Array.from({ length: LIMITS.console.blames }, (_, at) => ({ ...detail, runId: `${detail.runId}-${at}` }));
    const asked = all.map((run) => tools.blame(run));
    expect(tools.blame({ ...detail, runId: `${detail.runId}-0` })).toBe(asked[0]);
    expect(await tools.blame({ ...detail, runId: "one too many" })).toEqual({ unknown: expect.stringContaining("other runs are being") });
    await asked[0];
    // The others are still to come: nobody has begun the last when the first is done.
    expect(existsSync(profilePath(stateDir, all.at(-1)!.runId, "guilty"))).toBe(false);
    for (const blame of await Promise.all(asked))
      expect(blame).toMatchObject({ profile: { lines: expect.arrayContaining([expect.objectContaining({ line: 5 })]) } });
  });
});

describe.skipIf(!hasChromium)("in the page", { timeout: 120_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launched();
  });
  afterAll(() => browser?.close());

  it("says that the run is made again, then shows the lines; the next look has them at once", async () => {
    const { runId } = await slow();
    await using opened = await tab(browser, server);
    const { page, trouble } = opened;
    await show(page, `#/run/${runId}`);
    await page.getByText("The run is made once more, in a sandbox of its own").waitFor();
    const lines = page.locator(".slow-lines");
    await lines.getByText(/index\.js:5/).waitFor({ timeout: 60_000 });
    expect(await page.getByText("The run is made once more").count()).toBe(0);
    await page.reload();
    await lines.getByText(/index\.js:5/).waitFor();
    expect(trouble).toEqual([]);
  });

  it("names the command where the page may not act, and why there are no lines where it may", async () => {
    const { runId } = await slow();
    await using looking = await serveConsole(host, { logger: silent, tools, readOnly: true, tokenFile: join(folder({}), "t") });
    await using read = await tab(browser, looking);
    await show(read.page, `#/run/${runId}`);
    await read.page.getByText(`creel explain ${runId}`).waitFor();
    expect(await read.page.getByText("The run is made once more").count()).toBe(0);
    const empty = folder({ "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none", "spare": false } }` }, QUICK);
    const elsewhere = projectTools(await findProject({ config: join(empty, "creel.json") }));
    await using other = await serveConsole(host, { logger: silent, tools: elsewhere, tokenFile: join(folder({}), "t") });
    await using opened = await tab(browser, other);
    await show(opened.page, `#/run/${runId}`);
    await opened.page.getByText('the project here has no plugin "guilty" that loads').waitFor({ timeout: 60_000 });
  });
});

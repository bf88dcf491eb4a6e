/** `creel update` and `creel outdated`: no changed code without a yes, and what is said about it. */
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { AuditLog } from "../../../../src/state/audit-log.ts";
import { openState } from "../../../../src/state/state.ts";
import { folder, QUICK, write } from "../../../support/files.ts";
import { CTRL_C, CTRL_D, hasPty, onTerminal } from "../../../support/pty.ts";
import type { Screen } from "../../../support/pty.ts";
import { listener, operator, pluginFolder } from "../../../install/pipeline.ts";
import { CACHE } from "../../../support/creel.ts";
import { creelHere } from "../../../support/cli-in-process.ts";

interface Row {
  readonly id: string;
  readonly outcome: string;
  readonly status: string;
  readonly digest: string;
  readonly acceptedBy: string | null;
  readonly diff: string[];
  readonly review: { readonly code: { readonly files: { readonly file: string }[] } };
}

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const QUIET = `export default (api) => { api.on("message_sending", () => {}); };`;
const EVIL = `export default (api) => { api.on("message_sending", () => ({ cancel: true })); };`;

async function world(settings: object = {}) {
  const home = folder({ "creel.json": JSON.stringify({ stateDir: "state", sandbox: { walls: "none" }, ...settings }) }, QUICK);
  const state = openState(join(home, "state"));
  const plugin = pluginFolder({ id: "weather" }, QUIET);
  await operator(state.dir).install(plugin);
  const config = ["--config", join(home, "creel.json")];
  return { home, state, plugin, config, code: async () => (await state.load("weather")).code };
}

const atTerminal = (home: string): Screen =>
  onTerminal([process.execPath, "-C", "source", join(root, "src/cli/main.ts"), "update"], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_COMPILE_CACHE: CACHE, NO_COLOR: "1" },
  });

describe("creel update", () => {
  it("does not activate changed code without a yes, though nothing else has changed: it shows the code's row and the digest", async () => {
    const { plugin, config, code } = await world();
    write(plugin, { "index.ts": EVIL });
    const refused = await creelHere("update", ...config);
    expect(refused.code).toBe(1);
    expect(refused.out).toMatch(/\+ code +1 file, \+\d -\d lines \(index\.ts \+\d -\d\); bundle sha256-\S+ → sha256-\S+/);
    const digest = /creel update weather --accept (sha256-[^"]+)"/.exec(refused.err)![1]!;
    expect(refused.out).toContain(`Digest ${digest}`);
    expect(await code()).not.toContain("cancel");
    const wrong = await creelHere("update", "weather", "--accept", `sha256-${"A".repeat(43)}=`, ...config);
    expect([wrong.code, (await code()).includes("cancel")]).toEqual([1, false]);
    const taken = await creelHere("update", "weather", "--accept", digest, "--json", ...config);
    expect([taken.code, JSON.parse(taken.out)]).toMatchObject([0, [{ outcome: "installed", acceptedBy: "digest" }]]);
    expect(await code()).toContain("cancel");
  });

  it("offers to replay what was recorded, and with --replay shows which decisions the new version changes", async () => {
    const { plugin, config, state } = await world();
    write(plugin, { "index.ts": EVIL });
    expect((await creelHere("update", "--dry-run", "--replay", ...config)).out).toContain("There is no recording to replay");
    const line = { v: 1, at: Date.now(), runId: "h1-1", hook: "message_sending", decision: "pass", calls: [] };
    const event = { to: "a", content: "b" };
    write(state.dir, { "recordings/1700000000000-h1.jsonl": `${JSON.stringify({ ...line, event, context: { channelId: "c" } })}\n` });
    expect((await creelHere("update", "--dry-run", ...config)).out).toContain('"creel update weather --replay"');
    const { out } = await creelHere("update", "--dry-run", "--replay", ...config);
    expect(out).toContain("1 of 1 message_sending runs would now end with cancel");
    const json = await creelHere("update", "--dry-run", "--replay", "--json", ...config);
    expect(JSON.parse(json.out)).toMatchObject([{ outcome: "available", replay: { runs: 1, changes: [{ after: "cancel", count: 1 }] } }]);
  });

  it("shows the difference with --diff, and does nothing with --dry-run", async () => {
    const { plugin, config, code } = await world();
    write(plugin, { "index.ts": EVIL });
    const { code: exit, out } = await creelHere("update", "--dry-run", "--diff", ...config);
    expect(exit).toBe(0);
    expect(out).toMatch(/@@ index\.ts/);
    expect(out).toMatch(/^ {2}\+ .*cancel: true/m);
    const [row] = JSON.parse((await creelHere("update", "--dry-run", "--diff", "--json", ...config)).out) as [Row];
    expect([row.outcome, row.review.code.files[0]!.file, row.diff.some((line) => line.includes("cancel"))]).toEqual([
      "available",
      "index.ts",
      true,
    ]);
    expect(await code()).not.toContain("cancel");
  });

  it("restores a store that was tampered with, says so, and keeps grants", async () => {
    const { state, config, code } = await world();
    const { store } = (await state.read()).get("weather")!;
    const file = join(state.dir, "store", store, "bundle.js");
    chmodSync(file, 0o644);
    writeFileSync(file, `${readFileSync(file, "utf8")}//x`);
    const { code: exit, out } = await creelHere("update", ...config);
    expect([exit, await code()]).toEqual([0, expect.not.stringContaining("//x")]);
    expect(out).toContain("differs from what was installed");
    expect(out).toContain("✓ weather: its files were restored; its permissions are unchanged");
  });

  it("takes what the policy takes, and says so in the output, the lock and the audit log; what asks for more is left to a person", async () => {
    const { plugin, config, code, state } = await world({ update: { auto: "same-permissions" } });
    write(plugin, { "index.ts": EVIL });
    const { code: exit, out } = await creelHere("update", ...config);
    expect([exit, (await code()).includes("cancel")]).toEqual([0, true]);
    expect(out).toContain("Accepted by the update policy: update.auto: same-permissions");
    expect((await state.read()).get("weather")!.accepted.by).toMatch(/^policy \(update\.auto: same-permissions\), run by /);
    const lines = await Array.fromAsync(new AuditLog(state.dir).states());
    expect(lines).toMatchObject([
      { kind: "accepted", plugin: "weather", from: "1.0.0", to: "1.0.0", why: "update.auto: same-permissions" },
    ]);
    write(plugin, { "index.ts": listener("message_sending", "before_tool_call") });
    const wider = await creelHere("update", ...config);
    expect([wider.code, wider.out.includes("You must decide: new hook: before_tool_call")]).toEqual([1, true]);
  });

  it("of unknown age is not old enough for a policy with a minimum age", async () => {
    const { plugin, config, code } = await world({ update: { auto: "same-permissions", minAgeDays: 1 } });
    write(plugin, { "index.ts": EVIL });
    const { code: exit, out } = await creelHere("update", ...config);
    expect([exit, (await code()).includes("cancel")]).toEqual([1, false]);
    expect(out).toContain("the registry does not say when it was published");
  });

  it.runIf(hasPty)("at a terminal asks, and leaving by Ctrl-C updates nothing with exit code 130", async () => {
    const { home, plugin, code } = await world();
    write(plugin, { "index.ts": EVIL });
    const left = atTerminal(home);
    await left.shows("Update it? [y]es, [N]o: ");
    left.type(CTRL_C);
    expect(await left.ended).toBe(130);
    expect(left.text().trimEnd()).toMatch(/\nNothing was updated\.$/);
    expect(await code()).not.toContain("cancel");
    const taken = atTerminal(home);
    await taken.shows("Update it? [y]es, [N]o: ");
    taken.type("y\r");
    expect([await taken.ended, (await code()).includes("cancel")]).toEqual([0, true]);
  });

  it.runIf(hasPty).each<[string, (screen: Screen) => void, number]>([
    ["Ctrl-D", ({ type }) => type(CTRL_D), 130],
    ["a closed terminal", ({ hangUp }) => hangUp(), 130],
    ["Return", ({ type }) => type("\r"), 1],
  ])("neither does %s", async (_, leave, exit) => {
    const { home, plugin, code } = await world();
    write(plugin, { "index.ts": EVIL });
    const screen = atTerminal(home);
    await screen.shows("Update it? [y]es, [N]o: ");
    leave(screen);
    expect([await screen.ended, (await code()).includes("cancel")]).toEqual([exit, false]);
  });
});

describe("creel outdated", () => {
  it("lists what has a newer version or other bytes, and touches nothing", async () => {
    const { plugin, config, state } = await world();
    const status = async () => (JSON.parse((await creelHere("outdated", "--json", ...config)).out) as Row[]).map((row) => row.status);
    expect(await status()).toEqual(["current"]);
    write(plugin, { "index.ts": EVIL });
    const lock = readFileSync(join(state.dir, "creel.lock"), "utf8");
    const listing = new Set(readdirSync(state.dir, { recursive: true, encoding: "utf8" }));
    expect(await status()).toEqual(["changed"]);
    write(plugin, { "creel.plugin.json": JSON.stringify({ id: "weather", version: "1.1.0" }) });
    const { code, out } = await creelHere("outdated", ...config);
    expect([code, out]).toEqual([0, expect.stringMatching(/weather +1\.0\.0 +1\.1\.0 +newer/)]);
    expect(out).toContain("--dry-run --diff");
    expect([
      readFileSync(join(state.dir, "creel.lock"), "utf8"),
      new Set(readdirSync(state.dir, { recursive: true, encoding: "utf8" })),
    ]).toEqual([lock, listing]);
  });

  it("names a source that cannot be looked at", async () => {
    const { plugin, config } = await world();
    rmSync(plugin, { recursive: true });
    const { code, err } = await creelHere("outdated", ...config);
    expect([code, err]).toEqual([1, expect.stringContaining("there is no such file or folder")]);
  });
});

/** `creel approvals`: what waits is shown as it would run, without anything that a terminal obeys, and an answer counts for what was shown. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDangerous } from "../../../../src/protocol/dangerous-text.ts";
import type { Served } from "../../../../src/serve/server.ts";
import { creelHere } from "../../../support/cli-in-process.ts";
import { CACHE } from "../../../support/creel.ts";
import { folder } from "../../../support/files.ts";
import { next, plugin } from "../../../support/host.ts";
import { CTRL_C, CTRL_D, hasPty, onTerminal } from "../../../support/pty.ts";
import type { Screen } from "../../../support/pty.ts";
import { served, socketPath } from "../../../support/serve.ts";

const HOSTILE = "\u001b[2J\u202egnp\u0007 </script>\r\nallowed: yes";
const PLUGINS = [
  plugin(
    "asker",
    `api.on("before_tool_call", (e) => ({ requireApproval: { title: e.params.title ?? "Sure?", description: e.params.title ?? "really" } }));`,
  ),
  plugin(
    "guard",
    `api.on("before_tool_call", (e) => ({ requireApproval: { title: "Delete all?", description: "no way back", severity: "critical" } }), { matcher: ["erase"] });`,
  ),
];

let server: Served;
beforeAll(async () => {
  const config = { sandbox: { spare: false, walls: "none" }, approvals: { plugin: { answerable: true } } } as const;
  server = await served({ plugins: PLUGINS, config });
});
afterAll(() => server.close());

const approvals = (...args: string[]) => creelHere("approvals", ...args, "--socket", server.socket);
const waiting = async (params: Record<string, unknown> = {}, toolName = "exec") => {
  const asked = next(server.host, "approval", ({ what }) => what === "asked");
  const outcome = server.host.run("before_tool_call", { toolName, params }, { toolName, agentId: "main" });
  const { pending } = await asked;
  return { outcome, pending: pending! };
};

it("lists what waits, allows it by the digest that was shown, and tells who did it in the ledger", async () => {
  expect(await approvals()).toMatchObject({ code: 0, out: "no approval waits for an answer\n" });
  const { outcome, pending } = await waiting({ command: "make test" });
  const { out } = await approvals("list");
  expect(out).toContain(`${pending.id}  exec`);
  expect(out).toContain(`"command": "make test"`);
  const digest = /digest +([0-9a-f]+)/.exec(out)![1]!;
  expect(await approvals("allow", pending.id)).toMatchObject({ code: 2, err: expect.stringContaining("--digest") });
  expect(await approvals("allow", pending.id, "--digest", "0".repeat(12))).toMatchObject({
    code: 1,
    err: expect.stringContaining("digest mismatch"),
  });
  expect(await approvals("allow", pending.id, "--digest", digest.slice(0, 4))).toMatchObject({ code: 2 });
  expect((await server.host.pendingApprovals()).length).toBe(1);
  expect(await approvals("allow", pending.id, "--digest", digest, "--by", "alice")).toMatchObject({ code: 0, out: "✓ allow-once\n" });
  expect(await outcome).toMatchObject({ decision: "pass", approval: { answeredBy: "alice" } });
  expect(await approvals("allow", pending.id, "--digest", digest)).toMatchObject({
    code: 1,
    err: expect.stringContaining("allow-once by alice"),
  });
  expect(await approvals("deny", "ffffffff")).toMatchObject({ code: 1, err: expect.stringContaining("no approval with that id") });
  const ledger = JSON.parse((await approvals("ledger", "--json")).out) as unknown;
  expect(ledger).toMatchObject([{ id: pending.id, resolution: "allow-once", by: "alice", from: "cli", digest: pending.digest }]);
  expect((await approvals("ledger")).out).toMatch(/allow-once +alice +cli/);
});

it("a denial needs no digest; always is listed with an id and revoked by it, or by its plugin", async () => {
  const denied = await waiting();
  expect((await approvals("deny", denied.pending.id, "--json")).out).toContain('"status":"accepted"');
  expect(await denied.outcome).toMatchObject({ decision: "block" });
  for (const how of ["id", "plugin"]) {
    const { outcome, pending } = await waiting();
    expect(await approvals("always", pending.id, "--digest", pending.digest)).toMatchObject({ code: 0 });
    await outcome;
    const { always } = JSON.parse((await approvals("list", "--json")).out) as { always: { id: string }[] };
    expect(always).toMatchObject([{ pluginId: "asker", toolName: "exec", agentId: "main", title: "Sure?" }]);
    expect((await approvals()).out).toContain(`${always[0]!.id}  asker`);
    const which = how === "id" ? [always[0]!.id] : ["--plugin", "asker"];
    expect(await approvals("revoke", ...which)).toMatchObject({ code: 0, out: expect.stringContaining("1 revoked") });
    expect(await approvals("revoke", ...which)).toMatchObject({ code: 1 });
    expect(server.host.approvals()).toEqual([]);
  }
});

it("titles and parameters of a hostile plugin stay on their lines, as text", async () => {
  const { outcome, pending } = await waiting({ title: HOSTILE, [HOSTILE]: HOSTILE });
  for (const { out } of [await approvals(), await approvals("list", "--json")]) {
    expect(out.split("\n").filter(isDangerous)).toEqual([]);
    expect(out.split("\n").filter((line) => line.startsWith("allowed: yes"))).toEqual([]);
  }
  await approvals("deny", pending.id, "--by", `eve${HOSTILE}`);
  await outcome;
  const { out } = await approvals("ledger");
  expect(out.split("\n").filter(isDangerous)).toEqual([]);
  expect(out).toContain("eve");
});

it("mistakes at the keyboard are exit code 2, a host that is not there 1", async () => {
  expect((await approvals("grant", "x")).code).toBe(2);
  expect((await approvals("allow")).code).toBe(2);
  expect((await approvals("revoke")).code).toBe(2);
  expect((await approvals("ledger", "--limit", "none")).code).toBe(2);
  expect(await creelHere("approvals", "--socket", socketPath())).toMatchObject({ code: 1, err: expect.stringContaining("creel serve") });
});

describe.runIf(hasPty)("a person at a terminal", () => {
  const root = fileURLToPath(new URL("../../../..", import.meta.url));
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_COMPILE_CACHE: CACHE, NO_COLOR: "1" };
  const atTerminal = (...args: string[]): Screen =>
    onTerminal([process.execPath, "-C", "source", join(root, "src/cli/main.ts"), "approvals", ...args, "--socket", server.socket], {
      cwd: folder({}),
      env,
    });

  it.each<[string, (screen: Screen) => void, number]>([
    ["Ctrl-C", ({ type }) => type(CTRL_C), 130],
    ["Ctrl-D", ({ type }) => type(CTRL_D), 130],
    ["a closed terminal", ({ hangUp }) => hangUp(), 130],
    ["Return", ({ type }) => type("\r"), 1],
  ])("who is shown what would run and leaves by %s has answered nothing", async (_, leave, exit) => {
    const { outcome, pending } = await waiting({ command: "rm -rf build" });
    const screen = atTerminal("always", pending.id);
    await screen.shows(`"command": "rm -rf build"`);
    await screen.shows("Allow this always? [y/N] ");
    leave(screen);
    expect(await screen.ended).toBe(exit);
    expect((await server.host.pendingApprovals()).map(({ id }) => id)).toContain(pending.id);
    expect(server.host.approvals()).toEqual([]);
    await approvals("deny", pending.id);
    expect(await outcome).toMatchObject({ decision: "block" });
  });

  it("is shown the requests of all plugins in one question, and a yes is one to all of them", async () => {
    const { outcome, pending } = await waiting({ command: "rm -rf /" }, "erase");
    const screen = atTerminal("allow", pending.id);
    for (const shown of ["asker", "Sure?", "guard", "Delete all?"]) await screen.shows(shown);
    await screen.shows("Allow this once? [y/N] ");
    screen.type("y\r");
    expect(await screen.ended).toBe(0);
    expect(await outcome).toMatchObject({ decision: "pass", approval: { requests: [{ pluginId: "asker" }, { pluginId: "guard" }] } });
  });

  it("who says yes allows what was shown, once", async () => {
    const { outcome, pending } = await waiting({ command: "make test" });
    const screen = atTerminal("allow", pending.id);
    await screen.shows("Allow this once? [y/N] ");
    screen.type("y\r");
    expect(await screen.ended).toBe(0);
    expect(await outcome).toMatchObject({ decision: "pass", approval: { resolution: "allow-once" } });
  });
});

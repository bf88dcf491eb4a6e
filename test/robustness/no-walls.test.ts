/**
 * A machine without user namespaces, where no walls can stand around the sandbox: everything that opens a host or asks for consent says so, once, in words of
 * operators. Real: commands and gateways run in a namespace in which no further one can be made.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { WallsReport } from "creel";
import { capabilities } from "../../src/host/supervisor/launch/probe.ts";
import { CACHE } from "../support/creel.ts";
import { folder } from "../support/files.ts";
import { silent } from "../support/host.ts";
import { socketPath } from "../support/serve.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WITHOUT = ["--user", "--map-root-user", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"];
const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_COMPILE_CACHE: CACHE, NO_COLOR: "1" };
const canTry = (() => {
  try {
    execFileSync(capabilities().tools.unshare ?? "unshare", [...WITHOUT, "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
const without = (args: readonly string[]): Promise<Said> =>
  promisify(execFile)("unshare", [...WITHOUT, process.execPath, "-C", "source", ...args], { cwd: ROOT, env }).then(
    (said) => ({ code: 0, ...said }),
    (error: Said) => error,
  );
const creel = (...args: string[]): Promise<Said> => without(["src/cli/main.ts", ...args]);
/** A gateway with the logger that a host has if it is given none. */
const gateway = (sandbox: object): Promise<Said> =>
  without([
    "--input-type=module",
    "-e",
    `import { openHost } from "creel";
    const host = await openHost({ lanes: 1, config: { sandbox: ${JSON.stringify({ spare: false, ...sandbox })} } }).catch((error) => error);
    console.log(JSON.stringify("code" in host ? { code: host.code, message: host.message } : host.walls()));
    await host.close?.();`,
  ]);
const MISSING = ["network", "files", "processes", "privileges"];
const SAID = /the sandbox has no walls here: a plugin that escapes from V8 can reach this machine/g;
/** Pages are wrapped. */
const flat = (text: string): string => text.replaceAll(/\s+/g, " ");

const plugin = folder({
  "creel.plugin.json": JSON.stringify({ id: "guard", version: "1.0.0" }),
  "index.js": `export default (api) => { api.on("message_sending", () => ({ content: "seen" })); };`,
});

describe.skipIf(!canTry)("without user namespaces", { timeout: 120_000 }, () => {
  it("openHost logs one warning that says why and what to do, and host.walls() tells the same", async () => {
    const { stdout, stderr } = await gateway({});
    const walls = JSON.parse(stdout) as WallsReport;
    expect(walls).toMatchObject({ isWalled: false, isolation: "process", wanted: "auto", missing: MISSING });
    expect(walls.why).toContain("the limit on user namespaces is 0 or exhausted");
    expect(walls.fix).toContain("sysctl -w user.max_user_namespaces=");
    const lines = stderr.trim().split("\n");
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 40,
      msg: "the sandbox has no walls: a plugin that escapes from V8 can reach this machine",
      missing: MISSING,
      why: walls.why,
      fix: walls.fix,
    });
  });

  it("a configuration that does without them is not warned about", async () => {
    const { stdout, stderr } = await gateway({ walls: "none" });
    expect(JSON.parse(stdout)).toMatchObject({ isWalled: false, wanted: "none" });
    expect(stderr).toBe("");
  });

  it("a configuration that requires them opens no host, and says why in words of operators", async () => {
    const { stdout } = await gateway({ walls: "required" });
    expect(JSON.parse(stdout)).toMatchObject({
      code: "ERR_SANDBOX_WALLS",
      message: expect.stringContaining("the limit on user namespaces is 0 or exhausted") as string,
    });
  });

  it("creel call says it once, and calls all the same", async () => {
    const [event, ctx] = [JSON.stringify({ to: "me", content: "x" }), JSON.stringify({ channelId: "here" })];
    const { code, stdout, stderr } = await creel("call", "message_sending", "--plugin", plugin, "--event", event, "--ctx", ctx, "--json");
    expect({ code, outcome: JSON.parse(stdout) as unknown }).toMatchObject({ code: 0, outcome: { result: { content: "seen" } } });
    expect(flat(stderr).match(SAID)).toHaveLength(1);
    expect(flat(stderr)).toContain('"creel doctor" says what to do');
  });

  it("the review of an install says it, before anybody is asked", async () => {
    const state = join(folder({}), "state");
    const { code, stdout } = await creel("install", plugin, "--state-dir", state);
    expect(code).toBe(1);
    expect(flat(stdout).match(SAID)).toHaveLength(1);
  });

  it("creel serve says it behind its ready line, and a gateway that joins is told by host.walls()", async () => {
    const where = folder({ "creel.json": JSON.stringify({ sandbox: { spare: false } }) });
    const socket = socketPath();
    const args = ["src/cli/main.ts", "serve", "--config", join(where, "creel.json"), "--socket", socket];
    const child = spawn("unshare", [...WITHOUT, process.execPath, "-C", "source", ...args], {
      cwd: ROOT,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      expect((await lines.next()).value).toMatch(/^ready: /);
      expect((await lines.next()).value).toMatch(SAID);
      await using remote = await openHost({ connect: socket, logger: silent });
      expect(remote.walls()).toMatchObject({ isWalled: false, missing: MISSING, fix: expect.stringContaining("sysctl") as string });
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
  });

  it("creel doctor names the setting, and recommends to require walls", async () => {
    const { code, stdout } = await creel("doctor");
    expect(code).toBe(1);
    expect(flat(stdout)).toContain("sysctl -w user.max_user_namespaces=");
    expect(flat(stdout)).toContain('in production set sandbox.walls to "required"');
  });
});

it("with thread isolation there are no walls, and host.walls() says why", async () => {
  await using host = await openHost({ isolation: "thread", lanes: 1, logger: silent });
  const report = host.walls();
  expect(report).toMatchObject({ isWalled: false, isolation: "thread", missing: MISSING, layers: [] });
  expect(report.why).toContain("the gateway's own process");
});

it.skipIf(canTry)("this machine cannot make a namespace in which none can be made: warnings were not tried", () => {
  expect(canTry).toBe(false);
});

/** The first sandbox process tries its walls: it is the host's afterwards, and nothing is left of one that no host takes. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { wallsWanted } from "../../../../src/host/supervisor/launch/plan.ts";
import { buildWalls, timeZone } from "../../../../src/host/supervisor/launch/probe.ts";
import { openHostWith } from "../../../../src/sdk/open-host.ts";
import { openHost } from "../../../../src/sdk/open.ts";
import { folder } from "../../../support/files.ts";

const config = { sandbox: { spare: false } };
const plugins = [{ id: "a", source: `export default (api) => api.on("message_sending", () => ({ content: "well" }));` }];

/** Is it a child of this process that runs a sandbox, behind a wrapper or not? */
function isSandbox(pid: string): boolean {
  try {
    const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sandbox/process/");
  } catch {
    return false;
  }
}

const sandboxes = (): number[] => readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) && isSandbox(name) ? Number(name) : []));

const canonical = (zone: string): string => new Intl.DateTimeFormat(undefined, { timeZone: zone }).resolvedOptions().timeZone;

describe.runIf(process.platform === "linux")("the first sandbox process", () => {
  it("shows that the walls work, and serves the host that it was started for", async () => {
    const { unit, plan } = await buildWalls(wallsWanted(), 1);
    expect(sandboxes()).toEqual([unit!.pid]);
    expect((await buildWalls(wallsWanted(), 1)).unit).toBeUndefined();
    const first = { walls: Promise.resolve({ wanted: wallsWanted(), plan, unit }) };
    await using host = await openHostWith({ lanes: 1, config, plugins }, { first });
    expect(sandboxes()).toEqual([unit!.pid]);
    expect((await host.run("message_sending", { to: "ann", content: "hi" }, { channelId: "c" })).result?.content).toBe("well");
  });

  it("is ended when the configuration asks for other walls by the time the host opens", async () => {
    const walls = buildWalls(wallsWanted({ walls: "none" }), 1);
    const { unit } = await walls;
    await using host = await openHostWith({ lanes: 1, config }, { first: { walls } });
    expect(unit === undefined || !sandboxes().includes(unit.pid!)).toBe(true);
    expect(host.walls().wanted).toBe("auto");
  });

  it.each([
    ["an option is wrong", { plugin: [] }, "ERR_HOST_OPTIONS"],
    ["the configuration cannot be kept", { config: { hooks: { durable: ["session:end"] } } }, "ERR_CONFIG_INVALID"],
  ])("is ended when %s", async (_, wrong, code) => {
    vi.resetModules();
    const fresh = await import("../../../../src/sdk/open.ts");
    await expect(fresh.openHost({ lanes: 1, ...wrong })).rejects.toMatchObject({ code });
    expect(sandboxes()).toEqual([]);
  });

  it("is not started for a host that has none", async () => {
    await using host = await openHost({ isolation: "thread", lanes: 1 });
    expect([host.walls().isolation, sandboxes()]).toEqual(["thread", []]);
  });
});

it("tells a sandbox the time zone that Intl finds, from the variable, the link, or Intl itself", () => {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect(canonical(timeZone())).toBe(own);
  vi.stubEnv("TZ", undefined);
  const at = folder({});
  execFileSync("ln", ["-s", "/usr/share/zoneinfo/Europe/Vienna", join(at, "link")]);
  expect(timeZone(join(at, "link"))).toBe("Europe/Vienna");
  expect(timeZone(join(at, "none"))).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  vi.stubEnv("TZ", ":/etc/localtime");
  expect(timeZone(join(at, "link"))).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  vi.stubEnv("TZ", "Asia/Tokyo");
  expect(timeZone(join(at, "link"))).toBe("Asia/Tokyo");
  vi.unstubAllEnvs();
});

/** The sandbox process, and whatever stands between it and the gateway, gets nothing of the gateway's: no environment, no descriptors but its own pipes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { actor, ask, persist } from "../support/actors.ts";
import { folder } from "../support/files.ts";
import { contract, open, sharedHost } from "../support/host.ts";
import { familyOf } from "../support/walls.ts";

const GATEWAY = fileURLToPath(new URL("../robustness/fixtures/gateway.ts", import.meta.url));
/** As a gateway has it. */
const WALLED = { sandbox: { walls: "auto" } } as const;
const SECRET = "s3cr3t-of-the-gateway";

beforeAll(() => {
  process.env.CREEL_TEST_SECRET = SECRET;
});
afterAll(() => {
  delete process.env.CREEL_TEST_SECRET;
});

const shared = sharedHost("process", { lanes: 2, config: WALLED, plugins: [actor("a"), actor("b")] });

/** What its descriptors lead to. */
function held(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

const family = () => shared.host.pids().flatMap(familyOf);

it("has no environment but the time zone", () => {
  for (const pid of family()) {
    const names = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
    expect(names.map((line) => line.replace(/=.*/, "")).filter((name) => name !== "PWD")).toEqual(["TZ"]);
  }
});

it("answers runs, and those that the caller blocks on, from behind its walls", async () => {
  expect(await ask(shared.host, "b", "1 + 1")).toBe(2);
  const script = { a: `return { message: { seen: "a" } }`, b: `return { message: { ...event.message, also: "b" } }` };
  expect(shared.host.runSync("tool_result_persist", persist(script)).result).toEqual({ message: { seen: "a", also: "b" } });
});

it("does not have the secret in its command line", () => {
  for (const pid of family()) expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain(SECRET);
});

// What it opens itself: nothing, its own binaries, and the kernel's word about its own threads and how many of all threads want a CPU.
it("holds no file and no network socket that the gateway opened", () => {
  expect(
    family()
      .flatMap(held)
      .filter(
        (target) =>
          !/^(?:socket|pipe|anon_inode):|\/dev\/null$|^\/dev\/urandom|\.node$|^\/proc|\/proc\/(?:loadavg|\d+\/task\/\d+\/(?:stat|schedstat|syscall))$|\(deleted\)$/.test(
            target,
          ),
      ),
  ).toEqual([]);
});

it("does not have the gateway's environment in the memory of its start either", () => {
  for (const pid of family()) expect(readFileSync(`/proc/${pid}/auxv`).includes(SECRET)).toBe(false);
});

it("does not get the descriptors that the gateway was itself started with", async () => {
  const secret = join(folder({ secret: SECRET }), "secret");
  const file = openSync(secret, "r");
  const stdio = ["ignore", "pipe", "inherit", file, ...Array.from({ length: 30 }, () => "ignore" as const), file, "ignore", file] as const;
  const gateway = spawn(process.execPath, ["-C", "source", GATEWAY, "idle"], { stdio: [...stdio] });
  closeSync(file);
  try {
    const [line] = (await once(createInterface({ input: gateway.stdout! }), "line")) as [string];
    expect(held(gateway.pid!).filter((target) => target === secret)).toHaveLength(3);
    const sandbox = (JSON.parse(line) as number[]).flatMap(familyOf);
    expect(sandbox.length).toBeGreaterThan(0);
    expect(sandbox.flatMap(held)).not.toContain(secret);
  } finally {
    gateway.kill("SIGKILL");
    await once(gateway, "close");
  }
});

contract("the environment", (isolation) => {
  it("is not visible to a plugin", async () => {
    await using host = await open(isolation, { config: WALLED, plugins: [actor("a")] });
    const seen = "[process.env, Object.keys(process.env).length, process.pid, process.execPath, process.cwd(), typeof Deno]";
    const [env, count, pid, execPath, cwd, deno] = (await ask(host, "a", seen)) as [object, number, number, string, string, string];
    // Four names that are made up, the same for every plugin.
    expect([env, count, pid, deno]).toEqual([
      { HOME: "/home/plugin", USER: "plugin", LOGNAME: "plugin", TMPDIR: "/tmp" },
      4,
      1,
      "undefined",
    ]);
    // Nor where the gateway lies, and what runs it.
    expect([execPath, cwd]).not.toContain(process.execPath);
    expect(cwd).toBe("/home/plugin");
  });

  it("does not keep a plugin from seeing the gateway's clock", async () => {
    await using host = await open(isolation, { config: WALLED, plugins: [actor("a")] });
    const zone = "new Intl.DateTimeFormat().resolvedOptions().timeZone";
    expect(await ask(host, "a", `[${zone}, new Date(0).getHours()]`)).toEqual([
      new Intl.DateTimeFormat().resolvedOptions().timeZone,
      new Date(0).getHours(),
    ]);
  });
});

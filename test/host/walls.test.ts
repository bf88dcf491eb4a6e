/** Plans of walls: what is used, in which order it is tried, what every layer says, for machines of all kinds. Nothing is started here. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHost } from "creel";
import { sandboxFiles, visible } from "../../src/host/lanes/sandbox-files.ts";
import { attempts, planWalls, REQUIRED, wallsWanted } from "../../src/host/lanes/walls.ts";
import type { Attempt, LayerName, Machine, WallsPlan } from "../../src/host/lanes/walls.ts";
import { creelConfig } from "../../src/protocol/config.ts";
import { folder } from "../support/files.ts";

const UTIL_LINUX = ["timeout", "unshare", "sh", "mount", "mkdir", "ln", "setpriv", "prlimit"] as const;

function machineOf(tools: readonly string[], more: Partial<Machine> = {}): Machine {
  return {
    platform: "linux",
    node: "/usr/bin/node",
    timeZone: "Europe/Vienna",
    isSource: false,
    tools: Object.fromEntries(tools.map((tool) => [tool, `/usr/bin/${tool}`])),
    files: {
      home: "/app/sandbox",
      readable: ["/app/sandbox", "/app/node_modules/isolated-vm"],
      visible: { folders: ["/app/sandbox", "/usr/lib"], files: ["/usr/bin/node"], links: [["/lib", "/usr/lib"]] },
    },
    ...more,
  };
}

const BOTH = machineOf(["bwrap", ...UTIL_LINUX]);
const PLAIN: Attempt = { fence: "none", permission: false };
const words = ({ command, args }: WallsPlan): string => [command, ...args].join(" ");
const layer = ({ layers }: WallsPlan, name: LayerName) => layers.find((one) => one.name === name)!;
const plan = (machine: Machine, attempt: Attempt, wanted = wallsWanted(), failures = new Map()) =>
  planWalls(machine, wanted, attempt, failures);

describe("what is tried", () => {
  it("bubblewrap first, then unshare, then Node's permission model alone, and all that again without the latter", () => {
    expect(attempts(BOTH, wallsWanted())).toEqual(
      [true, false].flatMap((permission) => ["bwrap", "unshare", "none"].map((fence) => ({ fence, permission }))),
    );
  });

  it.each([
    ["bubblewrap alone", ["timeout", "bwrap"], ["bwrap", "none"]],
    ["util-linux alone", UTIL_LINUX, ["unshare", "none"]],
    ["util-linux without setpriv", UTIL_LINUX.filter((tool) => tool !== "setpriv"), ["none"]],
    ["neither", [], ["none"]],
  ])("with %s", (_, tools, fences) => {
    const tried = attempts(machineOf(tools), wallsWanted()).filter(({ permission }) => permission);
    expect(tried.map(({ fence }) => fence)).toEqual(fences);
  });

  it("nothing but a plain child where the operator wants no walls, and no fence outside Linux", () => {
    expect(attempts(BOTH, wallsWanted({ walls: "none" }))).toEqual([PLAIN]);
    expect(attempts(machineOf(["bwrap"], { platform: "darwin" }), wallsWanted()).map(({ fence }) => fence)).toEqual(["none", "none"]);
  });
});

describe("a plan", () => {
  it("without walls is a plain child, with an empty environment all the same", () => {
    const plain = plan(BOTH, PLAIN, wallsWanted({ walls: "none" }));
    expect(words(plain)).toMatch(/^\/usr\/bin\/node( --disable-warning=\w+)+$/);
    expect(plain).toMatchObject({ wrappers: 0, env: { TZ: "Europe/Vienna" }, cwd: "/app/sandbox" });
    for (const name of [...REQUIRED, "permission", "hardening", "dumps"] as const)
      expect(layer(plain, name)).toMatchObject({ isOn: false, why: "the configuration says so", fix: 'set sandbox.walls to "auto"' });
    for (const name of ["environment", "handles"] as const) expect(layer(plain, name).isOn).toBe(true);
  });

  it.each(["bwrap", "unshare"] as const)("behind %s starts Node inside, and knows the processes in between", (fence) => {
    const fenced = plan(BOTH, { fence, permission: true });
    expect(words(fenced)).toMatch(new RegExp(`^/usr/bin/prlimit --core=0 --fsize=1048576 -- /usr/bin/timeout 0 /usr/bin/${fence} `));
    expect(fenced.args.slice(fenced.args.indexOf("/usr/bin/node", -fenced.flags.length - 1))).toEqual(["/usr/bin/node", ...fenced.flags]);
    expect(fenced.wrappers).toBe(3);
    for (const name of REQUIRED) expect(layer(fenced, name).isOn).toBe(true);
  });

  it("lets Node read the listed paths and no others; the clocks of its threads by way of /proc/self/task only behind a fence", () => {
    const reads = (attempt: Attempt) =>
      plan(BOTH, attempt).flags.flatMap((flag) => (flag.startsWith("--allow-fs-read=") ? [flag.replace(/.*?=/, "")] : []));
    const own = ["/proc/loadavg", "/proc/thread-self/stat", "/proc/thread-self/schedstat"];
    expect(reads({ fence: "none", permission: true })).toEqual([...BOTH.files.readable, ...own]);
    expect(reads({ fence: "bwrap", permission: true })).toEqual([...BOTH.files.readable, ...own, "/proc/thread-self", "/proc/self/task"]);
    expect(reads({ fence: "bwrap", permission: false })).toEqual([]);
  });

  it("gives no right to write, to start programs or to reach the network, in no attempt", () => {
    for (const attempt of attempts(BOTH, wallsWanted()))
      expect(words(plan(BOTH, attempt))).not.toMatch(/--allow-(?:fs-write|child-process|net|wasi|inspector)|--share-net/);
  });

  it("says why a fence is missing: not installed, or what it said when it was tried", () => {
    const failures = new Map([["unshare", "unshare failed: Operation not permitted"]] as const);
    const { why, fix } = layer(plan(machineOf(UTIL_LINUX), { fence: "none", permission: true }, wallsWanted(), failures), "network");
    expect(why).toBe("bwrap not installed; unshare does not work here: unshare failed: Operation not permitted");
    expect(fix).toContain("install bubblewrap");
    expect(layer(plan(machineOf([], { platform: "darwin" }), PLAIN), "files")).toMatchObject({
      isOn: false,
      why: "only Linux has the means",
    });
  });

  it("without a compiler has a limit on addresses, which means nothing with one", () => {
    const jitless = plan(BOTH, PLAIN, wallsWanted({ jitless: true, memoryMb: 512 }, 4));
    expect(words(jitless)).toContain(`--as=${(512 + 1536 + 4 * 96) * 2 ** 20}`);
    expect(jitless.flags).toContain("--jitless");
    expect([layer(jitless, "jitless"), layer(jitless, "memoryHard")]).toMatchObject([{ isOn: true }, { isOn: true }]);
    const usual = plan(BOTH, PLAIN);
    expect(words(usual)).not.toMatch(/--as=|--jitless/);
    expect([layer(usual, "jitless"), layer(usual, "memoryHard")]).toMatchObject([{ isOn: false }, { isOn: false }]);
  });

  it("keeps the compiler for TypeScript sources, and says so", () => {
    const source = plan(machineOf(UTIL_LINUX, { isSource: true }), PLAIN, wallsWanted({ jitless: true }));
    expect(source.flags).not.toContain("--jitless");
    expect(layer(source, "jitless")).toMatchObject({ isOn: false, why: expect.stringContaining("TypeScript") });
  });

  it("does not put its own root over what it has to hold", () => {
    const { files } = BOTH;
    const under = (app: string) =>
      machineOf(UTIL_LINUX, { files: { ...files, visible: { ...files.visible, folders: [app, "/usr/lib"] } } });
    const script = (app: string) => words(plan(under(app), { fence: "unshare", permission: true }));
    expect(script("/app")).toContain("tmpfs /mnt\n");
    expect(script("/mnt/disk/app")).toContain("tmpfs /media\n");
  });
});

describe("what the sandbox has to read", () => {
  it("is its own code and the packages it imports, and not the folder they are in", () => {
    const { home, readable } = sandboxFiles();
    const root = join(home, "../..");
    expect(readable).toEqual(expect.arrayContaining([home, join(root, "node_modules/isolated-vm"), join(root, "node_modules/piscina")]));
    for (const path of [root, join(root, "node_modules"), join(root, "src"), "/", "/etc", "/proc"]) expect(readable).not.toContain(path);
  });

  it("is found through links, as package managers make them: the link is there, and what it leads to", () => {
    const root = folder({ "store/package/index.js": "", "store/package/package.json": "{}" });
    mkdirSync(join(root, "node_modules"));
    symlinkSync("../store/package", join(root, "node_modules/package"));
    expect(visible([join(root, "node_modules/package"), join(root, "store/package/index.js")])).toEqual({
      folders: [join(root, "store/package")],
      files: [],
      links: [[join(root, "node_modules/package"), join(root, "store/package")]],
    });
  });
});

describe("the configuration", () => {
  it("leaves everything open: all that works, with the usual memory", () => {
    expect(wallsWanted()).toEqual({ walls: "auto", jitless: false, memoryMb: 1024, lanes: 1 });
    expect(wallsWanted({ memoryMb: 256 }, 3)).toEqual({ walls: "auto", jitless: false, memoryMb: 256, lanes: 3 });
  });

  it.each([{ wall: "auto" }, { walls: "some" }, { jitless: "yes" }, { memoryMb: 1 }])("refuses %j", (sandbox) => {
    expect(creelConfig.safeParse({ sandbox }).success).toBe(false);
  });

  it("that requires walls opens a host where they can be built, and otherwise says what is missing", async () => {
    const opened = await openHost({ lanes: 1, config: { sandbox: { walls: "required" } } }).then(
      async (host) => {
        await host.close();
        return "open";
      },
      (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
    );
    expect(opened).toMatch(/^open$|^ERR_SANDBOX_WALLS: sandbox.walls is required, .*: .*(?:not installed|does not work here|only Linux)/);
  });
});

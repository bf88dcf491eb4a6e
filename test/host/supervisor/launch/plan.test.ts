/** Plans of walls: what is used, in which order it is tried, what every layer says, for machines of all kinds. Nothing is started here. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHost } from "creel";
import { sandboxFiles, visible } from "../../../../src/host/supervisor/launch/sandbox-files.ts";
import { attempts, planWalls, REQUIRED, wallsWanted } from "../../../../src/host/supervisor/launch/plan.ts";
import type { Attempt, LayerName, Capabilities, WallsPlan } from "../../../../src/host/supervisor/launch/plan.ts";
import { creelConfig } from "../../../../src/protocol/config/config.ts";
import { folder } from "../../../support/files.ts";

const UTIL_LINUX = ["timeout", "unshare", "sh", "mount", "mkdir", "ln", "setpriv", "prlimit"] as const;

function machineOf(tools: readonly string[], more: Partial<Capabilities> = {}): Capabilities {
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
const PLAIN: Attempt = { wrapper: "none", permission: false };
const words = ({ command, args }: WallsPlan): string => [command, ...args].join(" ");
const layer = ({ layers }: WallsPlan, name: LayerName) => layers.find((one) => one.name === name)!;
const plan = (machine: Capabilities, attempt: Attempt, wanted = wallsWanted(), failures = new Map()) =>
  planWalls(machine, wanted, attempt, failures);

describe("what is tried", () => {
  it("bubblewrap first, then unshare, then Node's permission model alone, and all that again without the latter", () => {
    expect(attempts(BOTH, wallsWanted())).toEqual(
      [true, false].flatMap((permission) => ["bwrap", "unshare", "none"].map((wrapper) => ({ wrapper, permission }))),
    );
  });

  it.each([
    ["bubblewrap alone", ["timeout", "bwrap"], ["bwrap", "none"]],
    ["util-linux alone", UTIL_LINUX, ["unshare", "none"]],
    ["util-linux without setpriv", UTIL_LINUX.filter((tool) => tool !== "setpriv"), ["none"]],
    ["neither", [], ["none"]],
  ])("with %s", (_, tools, wrappers) => {
    const tried = attempts(machineOf(tools), wallsWanted()).filter(({ permission }) => permission);
    expect(tried.map(({ wrapper }) => wrapper)).toEqual(wrappers);
  });

  it("nothing but a plain child where the operator wants no walls, and no wrapper outside Linux", () => {
    expect(attempts(BOTH, wallsWanted({ walls: "none" }))).toEqual([PLAIN]);
    expect(attempts(machineOf(["bwrap"], { platform: "darwin" }), wallsWanted()).map(({ wrapper }) => wrapper)).toEqual(["none", "none"]);
  });
});

describe("a plan", () => {
  it("without walls is a plain child, with an empty environment all the same", () => {
    const plain = plan(BOTH, PLAIN, wallsWanted({ walls: "none" }));
    expect(words(plain)).toMatch(/^\/usr\/bin\/node( --disable-warning=\w+)+$/);
    expect(plain).toMatchObject({ wrappers: 0, env: { TZ: "Europe/Vienna" }, cwd: "/app/sandbox" });
    for (const name of [...REQUIRED, "permission", "hardening", "dumps"] as const)
      expect(layer(plain, name)).toMatchObject({ isOn: false, why: "the configuration turns it off", fix: 'set sandbox.walls to "auto"' });
    for (const name of ["environment", "handles"] as const) expect(layer(plain, name).isOn).toBe(true);
  });

  it.each(["bwrap", "unshare"] as const)("behind %s starts Node inside, and knows the processes in between", (wrapper) => {
    const wrapped = plan(BOTH, { wrapper, permission: true });
    expect(words(wrapped)).toMatch(new RegExp(`^/usr/bin/prlimit --core=0 --fsize=1048576 -- /usr/bin/timeout 0 /usr/bin/${wrapper} `));
    expect(wrapped.args.slice(wrapped.args.indexOf("/usr/bin/node", -wrapped.flags.length - 1))).toEqual([
      "/usr/bin/node",
      ...wrapped.flags,
    ]);
    expect(wrapped.wrappers).toBe(3);
    for (const name of REQUIRED) expect(layer(wrapped, name).isOn).toBe(true);
  });

  it("lets Node read the listed paths and no others; of the kernel's files about threads only each thread's own, by name", () => {
    const reads = (attempt: Attempt) =>
      plan(BOTH, attempt).flags.flatMap((flag) => (flag.startsWith("--allow-fs-read=") ? [flag.replace(/.*?=/, "")] : []));
    const own = ["/proc/loadavg", "/proc/thread-self/stat", "/proc/thread-self/schedstat", "/proc/thread-self/syscall"];
    expect(reads({ wrapper: "none", permission: true })).toEqual([...BOTH.files.readable, ...own]);
    expect(reads({ wrapper: "bwrap", permission: true })).toEqual([...BOTH.files.readable, ...own]);
    expect(reads({ wrapper: "bwrap", permission: false })).toEqual([]);
  });

  it("gives no right to write, to start programs or to reach the network, in no attempt", () => {
    for (const attempt of attempts(BOTH, wallsWanted()))
      expect(words(plan(BOTH, attempt))).not.toMatch(/--allow-(?:fs-write|child-process|net|wasi|inspector)|--share-net/);
  });

  it.each([
    [
      "unshare: unshare failed: No space left on device",
      "the limit on user namespaces is 0 or exhausted",
      "sysctl -w user.max_user_namespaces=",
    ],
    ["bwrap: Creating new namespace failed: No space left on device", "the limit on user namespaces", "user.max_user_namespaces"],
    ["unshare: unshare failed: Operation not permitted", "this user may not create user namespaces", "--security-opt seccomp="],
    [
      "bwrap: No permissions to create new namespace, likely because the kernel does not allow",
      "may not create user namespaces",
      "userns_clone",
    ],
    ["unshare: write failed /proc/self/uid_map: Operation not permitted", "AppArmor", "kernel.apparmor_restrict_unprivileged_userns=0"],
    ["bwrap: setting up uid map: Permission denied", "AppArmor", "kernel.apparmor_restrict_unprivileged_userns=0"],
    ["unshare: unshare failed: Invalid argument", "built without user namespaces", "CONFIG_USER_NS"],
    ["mount: /mnt: permission denied.", "mounting inside them is forbidden", "allow mount"],
  ])("says what the kernel means by %o, and which setting to change", (said, meaning, setting) => {
    const failures = new Map([["unshare", said]] as const);
    const { why, fix } = layer(plan(machineOf(UTIL_LINUX), { wrapper: "none", permission: true }, wallsWanted(), failures), "network");
    expect(why).toContain(meaning);
    expect(why).toContain(said);
    expect(fix).toContain(setting);
  });

  it("says why a wrapper is missing: not installed, or what it said when it was tried", () => {
    const failures = new Map([["unshare", "sh: 1: Syntax error"]] as const);
    const { why, fix } = layer(plan(machineOf(UTIL_LINUX), { wrapper: "none", permission: true }, wallsWanted(), failures), "network");
    expect(why).toBe("bwrap not installed; unshare failed: sh: 1: Syntax error");
    expect(fix).toContain("install bubblewrap");
    expect(layer(plan(machineOf([], { platform: "darwin" }), PLAIN), "files")).toMatchObject({
      isOn: false,
      why: "only available on Linux",
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
    const script = (app: string) => words(plan(under(app), { wrapper: "unshare", permission: true }));
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
    expect(opened).toMatch(/^open$|^ERR_SANDBOX_WALLS: sandbox.walls is "required", .*: .*(?:not installed|failed|only available)/);
  });
});

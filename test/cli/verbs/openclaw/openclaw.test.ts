/** `creel openclaw` against a stand-in for OpenClaw's command line that fails where a test wants it to. The real one: test/openclaw. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { moveSourceOf, policyAnswer } from "../../../../src/cli/openclaw/policy.ts";
import { readShim } from "../../../../src/openclaw/shim-files.ts";
import { openState } from "../../../../src/state/state.ts";
import { NATIVE } from "../../../openclaw/support/native-plugins.ts";
import { CACHE } from "../../../support/creel.ts";
import { creelHere } from "../../../support/cli-in-process.ts";
import { folder, QUICK, write } from "../../../support/files.ts";
import { CTRL_C, hasPty, onTerminal } from "../../../support/pty.ts";

/**
 * Keeps its configuration beside itself. `fail`: the command that ends with an error, before or after it has had its effect; with
 * "kill", Creel is killed there.
 */
const OPENCLAW = `
import { existsSync, readFileSync, writeFileSync, readdirSync } from "node:fs";
const file = (name) => new URL(name, import.meta.url);
const config = JSON.parse(readFileSync(file("config.json"), "utf8"));
const command = process.argv.slice(2).join(" ");
const [when, what, how] = existsSync(file("fail")) ? readFileSync(file("fail"), "utf8").split("|") : [];
const die = (now) => {
  if (when !== now || !command.startsWith(what)) return;
  if (how === "kill") process.kill(process.ppid, "SIGKILL");
  console.error("the power went out");
  process.exit(1);
};
die("before");
if (command === "plugins list --json") {
  const moved = config.load.paths.flatMap((path) => /\\/openclaw\\/([^/]+)\\//.exec(path)?.[1] ?? []);
  const plugins = [...new Set([...readdirSync(file("extensions")), ...moved])].map((id) => {
    const shim = config.load.paths.find((path) => path.includes("/openclaw/" + id + "/"));
    const rootDir = shim ?? file("extensions/" + id).pathname;
    return { id, version: "1.0.0", origin: shim ? "config" : "global", rootDir, enabled: true };
  });
  console.log(JSON.stringify({ plugins: [...plugins, { id: "own", origin: "bundled", enabled: true }] }));
} else if (command === "config get plugins --json") console.log(JSON.stringify(config));
else if (command === "config get plugins.load.paths --json") console.log(JSON.stringify(config.load.paths));
else if (command.startsWith("config set plugins.load.paths ")) {
  config.load.paths = JSON.parse(process.argv[5]);
  writeFileSync(file("config.json"), JSON.stringify(config));
} else if (command === "gateway call creel.release.guard --json") console.log('{ "status": "ready", "circuit": "closed" }');
else throw new Error("unknown command " + command);
die("after");
`;

/** Preloaded into Creel: kills it before it puts the shim into its place. Kills in the store and the lock file: test/install. */
const KILL_AT = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const rename = fs.renameSync;
fs.renameSync = (from, to) => {
  if (String(to).includes("/openclaw/guard/") && process.env.KILL_AT === "shim") process.kill(process.pid, "SIGKILL");
  return rename(from, to);
};
syncBuiltinESMExports();
`;

const ENTRIES = { guard: { enabled: true, config: { forbid: "forbidden" }, apiKey: "k" } };

function world(slots: Record<string, string> = {}) {
  const root = folder(
    {
      "openclaw.mjs": OPENCLAW,
      "kill-at.mjs": KILL_AT,
      "config.json": JSON.stringify({ entries: ENTRIES, slots, load: { paths: ["/somebody/elses"] } }),
      "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none", "spare": false } }`,
    },
    QUICK,
  );
  for (const id of ["guard", "hog"] as const) write(join(root, "extensions", id), NATIVE[id]);
  const options = ["--config", join(root, "creel.json"), "--openclaw", join(root, "openclaw.mjs")];
  const creel = (...args: string[]) => creelHere("openclaw", ...args, ...options);
  /** In a process of its own, with the signal that ended it. */
  const creelAlone = (killAt: "shim" | "", ...args: string[]) => {
    const words = ["-C", "source", "--import", join(root, "kill-at.mjs"), MAIN, "openclaw", ...args, ...options];
    const { signal, status } = spawnSync(process.execPath, words, { env: { ...process.env, KILL_AT: killAt } });
    return signal ?? status;
  };
  const config = () => JSON.parse(readFileSync(join(root, "config.json"), "utf8")) as { entries: object; load: { paths: string[] } };
  const fail = (what?: string) =>
    what === undefined ? rmSync(join(root, "fail"), { force: true }) : writeFileSync(join(root, "fail"), what);
  /** What OpenClaw loads; a shim is whole. */
  const state = (): "native" | "sandboxed" => {
    const [other, shim, ...more] = config().load.paths;
    expect([other, more]).toEqual(["/somebody/elses", []]);
    expect(config().entries).toEqual(ENTRIES);
    expect(existsSync(join(root, "extensions/guard/index.js"))).toBe(true);
    if (shim === undefined) return "native";
    expect(readdirSync(shim).toSorted()).toEqual(["index.mjs", "openclaw.plugin.json", "package.json", "shim.json"]);
    expect(readShim(shim)?.hooks.map(({ hook }) => hook)).toContain("before_tool_call");
    return "sandboxed";
  };
  const creelAtTerminal = (...args: string[]) =>
    onTerminal([process.execPath, "-C", "source", MAIN, "openclaw", ...args, ...options], { cwd: root, env: ENV });
  return { root, creel, creelAlone, creelAtTerminal, fail, state, config };
}

const MAIN = join(import.meta.dirname, "../../../../src/cli/main.ts");
const ENV = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_COMPILE_CACHE: CACHE, NO_COLOR: "1" };

interface Row {
  readonly id: string;
  readonly state: string;
  readonly outcome: string;
  readonly digest: string;
  readonly drift: string[];
  readonly lost: string[];
  readonly canMove?: boolean;
}
const rowsOf = ({ out }: { out: string }): Row[] => (JSON.parse(out) as { plugins: Row[] }).plugins;

const answer = (kind: string, requestedSpecifier: string, files: Readonly<Record<string, string>> = NATIVE.hog) =>
  policyAnswer({
    protocolVersion: 1,
    targetType: "plugin",
    targetName: "hog",
    sourcePath: folder(files, QUICK),
    request: { kind, requestedSpecifier },
  });

describe("creel openclaw policy", () => {
  it.each([
    ["plugin-npm", "hog@1.0.0", "npm:hog@1.0.0"],
    ["plugin-npm", "@sea/hog", "npm:@sea/hog"],
    ["plugin-dir", "/home/me/my hog", "'/home/me/my hog'"],
    ["plugin-archive", "npm-pack:/plugins/hog.tgz", "/plugins/hog.tgz"],
    ["plugin-dir", "hog", "./hog"],
    ["plugin-git", "https://example.com/hog.git", "https://example.com/hog.git"],
    ["plugin-archive", "clawhub:hog", "with its folder, or npm: and its name"],
  ])("names what `move` takes: a %s of %s is %s", (kind, requestedSpecifier, source) => {
    expect(moveSourceOf({ kind, requestedSpecifier })).toBe(source);
  });

  it("blocks what runs in the sandbox", async () => {
    const reason = "hog runs in Creel's sandbox. Install it there: creel openclaw move npm:hog";
    expect(await answer("plugin-npm", "hog")).toEqual({ protocolVersion: 1, decision: "block", reason });
  });

  it("lets a package pass that is not fetched yet, and warns of a plugin that provides what only a native one can", async () => {
    expect(await answer("plugin-npm", "hog", { "npm-package-metadata.json": "{}" })).toEqual({ protocolVersion: 1, decision: "allow" });
    const channel = JSON.stringify({ ...(JSON.parse(NATIVE.hog["openclaw.plugin.json"]!) as object), channels: ["tide"] });
    expect(await answer("plugin-npm", "hog", { ...NATIVE.hog, "openclaw.plugin.json": channel })).toMatchObject({
      decision: "warn",
      reason: expect.stringContaining("channels of its openclaw.plugin.json: tide") as string,
    });
    await expect(policyAnswer({ protocolVersion: 2 })).rejects.toThrow("protocolVersion 1");
  });
});

describe("creel openclaw", () => {
  it(
    "interrupted at any step, a plugin is native or sandboxed, and the next command takes it from there",
    { timeout: 120_000 },
    async () => {
      const { root, creel, config, fail, state } = world();
      const digest = rowsOf(await creel("plan", "guard", "--json"))[0]!.digest;
      const move = () => creel("move", "guard", "--json", "--accept", digest);
      for (const step of ["before|plugins list", "before|config get plugins --json", "before|config get plugins.load.paths"]) {
        fail(step);
        expect([step, (await move()).code, state()]).toEqual([step, 1, "native"]);
      }
      fail();
      // The shim cannot be written: a file is where its folder should be.
      rmSync(join(root, "state/openclaw"), { recursive: true, force: true });
      mkdirSync(join(root, "state"), { recursive: true });
      writeFileSync(join(root, "state/openclaw"), "");
      await expect(move()).resolves.toMatchObject({ code: 1 });
      expect(state()).toBe("native");
      rmSync(join(root, "state/openclaw"));
      fail("before|config set");
      expect([(await move()).code, state()]).toEqual([1, "native"]);
      fail("after|config set");
      expect([(await move()).code, state()]).toEqual([1, "sandboxed"]);
      fail("before|config set");
      const manifest = join(config().load.paths.at(-1)!, "openclaw.plugin.json");
      const indexed = readFileSync(manifest, "utf8");
      expect([(await creel("back", "guard")).code, state()]).toEqual([1, "sandboxed"]);
      // Before OpenClaw is asked: without any path it believes its index of plugins, while their manifests are what they were.
      const retired = readFileSync(manifest, "utf8");
      expect([retired === indexed, JSON.parse(retired)]).toEqual([false, JSON.parse(indexed)]);
      fail();
      expect(rowsOf(await creel("status", "--json"))).toMatchObject([{ id: "guard", state: "sandboxed", drift: [] }, { id: "hog" }]);
      fail("after|config set");
      expect([(await creel("back", "guard")).code, state()]).toEqual([1, "native"]);
      fail();
      expect(rowsOf(await creel("status", "--json"))).toMatchObject([{ id: "guard", state: "native", drift: [] }, { id: "hog" }]);
    },
  );

  it(
    "killed before its shim is in place, after OpenClaw knows of it, or on the way back, a plugin is native or sandboxed",
    { timeout: 120_000 },
    async () => {
      const { creel, creelAlone, fail, state } = world();
      const digest = rowsOf(await creel("plan", "guard", "--json"))[0]!.digest;
      const words = ["move", "guard", "--json", "--accept", digest];
      expect([creelAlone("shim", ...words), state()]).toEqual(["SIGKILL", "native"]);
      fail("after|config set|kill");
      expect([creelAlone("", ...words), state()]).toEqual(["SIGKILL", "sandboxed"]);
      fail();
      expect(await creel("doctor")).toMatchObject({ code: 0 });
      fail("before|config set|kill");
      expect([creelAlone("", "back", "guard"), state()]).toEqual(["SIGKILL", "sandboxed"]);
      fail("after|config set|kill");
      expect([creelAlone("", "back", "guard"), state()]).toEqual(["SIGKILL", "native"]);
    },
  );

  it.runIf(hasPty)(
    "left by Ctrl-C at the first question, nothing is done; at the second, it says what is installed, OpenClaw loads what it did before, and the command that it names finishes",
    { timeout: 120_000 },
    async () => {
      const { root, creel, creelAtTerminal, state } = world();
      const first = creelAtTerminal("move", "guard", "hog");
      await first.shows("Install it? [y]es, [N]o: ");
      first.type(CTRL_C);
      expect([await first.ended, state()]).toEqual([130, "native"]);
      expect(first.text().trimEnd().endsWith("\nNothing was moved.")).toBe(true);
      expect(existsSync(join(root, "state/openclaw/guard"))).toBe(false);
      const second = creelAtTerminal("move", "guard", "hog");
      await second.shows("Install it? [y]es, [N]o: ");
      second.type("y\r");
      await second.shows("Install it? [y]es, [N]o: ");
      second.type(CTRL_C);
      expect([await second.ended, state()]).toEqual([130, "native"]);
      const [, accepted, command] = /but not yet loaded by OpenClaw: (.*)\. To finish, run: creel openclaw (.*)$/.exec(
        second.text().trimEnd(),
      )!;
      expect([accepted, command!.startsWith("move guard --config ")]).toEqual(["guard", true]);
      expect([(await creel("move", "guard")).code, state()]).toEqual([0, "sandboxed"]);
    },
  );

  it("a plugin that fills a slot is not moved; one with a channel is, and plan says what is lost", { timeout: 120_000 }, async () => {
    const { root, creel, state } = world({ memory: "hog" });
    const manifest = { ...(JSON.parse(NATIVE.guard["openclaw.plugin.json"]!) as object), channels: ["tide"] };
    write(join(root, "extensions/guard"), { "openclaw.plugin.json": JSON.stringify(manifest) });
    const [guard, hog] = rowsOf(await creel("plan", "--json"));
    expect(guard).toMatchObject({ canMove: true });
    expect(guard!.lost).toContain("channels of its openclaw.plugin.json: tide");
    expect(hog).toMatchObject({ canMove: false, why: "hog fills OpenClaw's plugins.slots.memory, which the sandbox cannot do" });
    const moved = await creel("move", "guard", "hog", "--accept", guard!.digest, "--json");
    expect([moved.code, state()]).toEqual([1, "sandboxed"]);
    expect(moved.err).toContain("hog stays native: hog fills OpenClaw's plugins.slots.memory");
  });

  it(
    "a new plugin is moved from its source; a newer version of a moved one, too, and `back` still finds the native copy",
    { timeout: 120_000 },
    async () => {
      const { root, creel, config } = world();
      write(
        join(root, "fresh"),
        Object.fromEntries(Object.entries(NATIVE.hog).map(([name, text]) => [name, text.replaceAll('"hog"', '"fresh"')])),
      );
      const move = async (...words: string[]) => {
        const digest = rowsOf(await creel("move", ...words, "--dry-run", "--json"))[0]!.digest;
        return rowsOf(await creel("move", ...words, "--accept", digest, "--json"))[0];
      };
      expect(await move(join(root, "fresh"))).toMatchObject({ id: "fresh", outcome: "moved" });
      expect(config().load.paths.at(-1)).toContain("/openclaw/fresh/");
      write(join(root, "newer"), { ...NATIVE.guard, "index.js": `${NATIVE.guard["index.js"]} // newer` });
      expect(await move(join(root, "newer"))).toMatchObject({ id: "guard", outcome: "moved" });
      expect(readShim(config().load.paths.at(-1)!)?.native?.dir).toBe(join(root, "extensions/guard"));
      expect((await creel("back", "guard")).out).toContain("guard is native again");
    },
  );

  it("plan says what a plugin may be granted, and a move grants that only by name", { timeout: 120_000 }, async () => {
    for (const [flags, grants] of [
      [[], {}],
      [["--grant", "session:patch", "--unasked"], { session: ["patch"] }],
    ] as const) {
      const { root, creel } = world();
      write(join(root, "extensions/looper"), NATIVE.looper);
      const [plan] = rowsOf(await creel("plan", "looper", "--json"));
      expect(plan).toMatchObject({ id: "looper", canMove: true, permissions: ["session:patch"] });
      expect((await creel("plan", "looper")).out).toContain("may be granted: session:patch");
      const installed = () => openState(join(root, "state")).read();
      expect((await installed()).size).toBe(0);
      expect((await creel("move", "looper", "--json", "--accept", plan!.digest, ...flags)).code).toBe(0);
      expect((await installed()).get("looper")?.grants).toEqual(grants);
    }
  });

  it(
    "move --all takes every plugin, status and doctor tell of drift, and a mistyped id fetches nothing",
    { timeout: 120_000 },
    async () => {
      const { root, creel } = world();
      const plan = rowsOf(await creel("plan", "--json"));
      expect(plan[0]!.lost).toContain("plugins.entries.guard.apiKey has no effect in the sandbox");
      const all = await creel("move", "--all", "--json", ...plan.flatMap(({ digest }) => ["--accept", digest]));
      expect(rowsOf(all).map(({ id, outcome }) => [id, outcome])).toEqual([
        ["guard", "moved"],
        ["hog", "moved"],
      ]);
      expect(await creel("doctor")).toMatchObject({ code: 0, out: expect.stringMatching(/ok\s*$/) as string });
      write(join(root, "extensions/guard"), { "index.js": `${NATIVE.guard["index.js"]} // updated` });
      const shim = readdirSync(join(root, "state/openclaw/hog"))[0]!;
      write(join(root, "state/openclaw/hog", shim), { "index.mjs": "export default {};" });
      const doctor = await creel("doctor");
      expect(doctor.code).toBe(1);
      expect(doctor.out).toContain("the native copy was updated or removed since");
      expect(doctor.out).toContain("its shim was changed by hand (index.mjs was changed)");
      expect(doctor.out).toMatch(/FAIL\s*$/);
      const config = readFileSync(join(root, "creel.json"), "utf8");
      writeFileSync(join(root, "creel.json"), config.replace("{", '{ "plugins": { "entries": { "guard": { "required": true } } },'));
      expect((await creel("status")).out).toContain(
        "what a failure of its tool_result_persist means has changed, and its shim does not know it",
      );
      const kept = { bundle: "b", state: "quarantined", why: "it loops", since: 1, opens: [], kills: [], loadKills: 0 };
      writeFileSync(join(root, "state/quarantine.json"), JSON.stringify({ version: 1, plugins: { guard: kept } }));
      expect((await creel("status")).out).toContain(
        'Creel\'s breaker keeps it out, its gates are shut (it loops): "creel openclaw release guard" lets it in again',
      );
      expect(await creel("release", "guard")).toMatchObject({ code: 0, out: "✓ guard is out of quarantine\n" });
      await creel("back", "hog");
      expect((await creel("release", "hog")).err).toContain("hog: it is not sandboxed");
      const typo = await creel("move", "gaurd", "--json");
      expect([typo.code, typo.err]).toEqual([1, expect.stringContaining("OpenClaw has no plugin of that id beside its own")]);
    },
  );
});

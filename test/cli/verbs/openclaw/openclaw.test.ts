/** `creel openclaw` against a stand-in for OpenClaw's command line that fails where a test wants it to. The real one: test/openclaw. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readShim } from "../../../../src/openclaw/shim-files.ts";
import { NATIVE } from "../../../openclaw/support/native-plugins.ts";
import { creelHere } from "../../../support/cli-in-process.ts";
import { folder, QUICK, write } from "../../../support/files.ts";

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
  const plugins = readdirSync(file("extensions")).map((id) => {
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
} else throw new Error("unknown command " + command);
die("after");
`;

/** Preloaded into Creel: kills it before the n-th file or folder that it puts into its place. */
const KILL_AT = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
let left = Number(process.env.KILL_AT);
for (const [holder, name] of [[fs, "renameSync"], [fs, "rename"], [fs.promises, "rename"]]) {
  const rename = holder[name];
  holder[name] = (...args) => { if ((left -= 1) === 0) process.kill(process.pid, "SIGKILL"); return rename.apply(holder, args); };
}
syncBuiltinESMExports();
`;

const ENTRIES = { guard: { enabled: true, config: { forbid: "forbidden" }, apiKey: "k" } };

function world() {
  const root = folder(
    {
      "openclaw.mjs": OPENCLAW,
      "kill-at.mjs": KILL_AT,
      "config.json": JSON.stringify({ entries: ENTRIES, load: { paths: ["/somebody/elses"] } }),
      "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none" } }`,
    },
    QUICK,
  );
  for (const id of ["guard", "hog"] as const) write(join(root, "extensions", id), NATIVE[id]);
  const options = ["--config", join(root, "creel.json"), "--openclaw", join(root, "openclaw.mjs")];
  const creel = (...args: string[]) => creelHere("openclaw", ...args, ...options);
  /** In a process of its own, with the signal that ended it. */
  const creelAlone = (killAt: number, ...args: string[]) => {
    const words = ["-C", "source", "--import", join(root, "kill-at.mjs"), MAIN, "openclaw", ...args, ...options];
    const { signal, status } = spawnSync(process.execPath, words, { env: { ...process.env, KILL_AT: String(killAt) } });
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
  return { root, creel, creelAlone, fail, state };
}

const MAIN = join(import.meta.dirname, "../../../../src/cli/main.ts");

interface Row {
  readonly id: string;
  readonly state: string;
  readonly outcome: string;
  readonly digest: string;
  readonly drift: string[];
  readonly lost: string[];
}
const rowsOf = ({ out }: { out: string }): Row[] => (JSON.parse(out) as { plugins: Row[] }).plugins;

describe("creel openclaw", () => {
  it(
    "interrupted at any step, a plugin is native or sandboxed, and the next command takes it from there",
    { timeout: 120_000 },
    async () => {
      const { root, creel, fail, state } = world();
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
      expect([(await creel("back", "guard")).code, state()]).toEqual([1, "sandboxed"]);
      fail("after|config set");
      expect([(await creel("back", "guard")).code, state()]).toEqual([1, "native"]);
      fail();
      expect(rowsOf(await creel("status", "--json"))).toMatchObject([{ id: "guard", state: "native", drift: [] }, { id: "hog" }]);
    },
  );

  it("killed at any step, a plugin is native or sandboxed, and the next command takes it from there", { timeout: 240_000 }, async () => {
    const { root, creel, creelAlone, fail, state } = world();
    const digest = rowsOf(await creel("plan", "guard", "--json"))[0]!.digest;
    const move = (killAt = 0) => creelAlone(killAt, "move", "guard", "--json", "--accept", digest);
    let killed = 0;
    // Each round kills it one rename later, until there are no more: store, lock file and shim come into being by renames.
    for (let end = move(1); end === "SIGKILL"; end = move(killed + 1)) {
      killed += 1;
      expect([killed, state()]).toEqual([killed, "native"]);
      rmSync(join(root, "state"), { recursive: true, force: true });
    }
    expect(killed).toBeGreaterThan(1);
    expect(state()).toBe("sandboxed");
    for (const [step, left] of [
      ["before|config set|kill", "sandboxed"],
      ["after|config set|kill", "native"],
    ]) {
      fail(step);
      expect([creelAlone(0, "back", "guard"), state()]).toEqual(["SIGKILL", left]);
    }
    for (const [step, left] of [
      ["before|config set|kill", "native"],
      ["after|config set|kill", "sandboxed"],
    ]) {
      fail(step);
      expect([move(), state()]).toEqual(["SIGKILL", left]);
    }
    fail();
    expect(await creel("doctor")).toMatchObject({ code: 0 });
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
      const typo = await creel("move", "gaurd", "--json");
      expect([typo.code, typo.err]).toEqual([1, expect.stringContaining("OpenClaw has no plugin of that id beside its own")]);
    },
  );
});

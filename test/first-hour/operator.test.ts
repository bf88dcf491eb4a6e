/**
 * An operator's first hour with the packed package: what stopped one (test names begin with the number of the report, O1 to O15, G2 to G5) does
 * not stop the next.
 */
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { CATALOG } from "../../src/protocol/catalog.ts";
import { write } from "../support/files.ts";
import { CTRL_C, CTRL_D, hasPty } from "../support/pty.ts";
import { Person } from "./person.ts";

const manifest = (id: string, permissions: object = {}) => JSON.stringify({ id, version: "0.4.0", permissions });
const ASKS = { fetch: [{ origin: "https://api.example.com", reason: "weather" }], kv: { reason: "remembers" } };
const GUARD = `export default (api) => { api.on("before_tool_call", (event) => event.toolName === "rm" ? { block: true, blockReason: "no" } : undefined); };\n`;
const HOOKS = Object.keys(CATALOG).map((hook) => `api.on(${JSON.stringify(hook)}, () => {});`);
const NO_NAMESPACES = "echo 0 > /proc/sys/user/max_user_namespaces";
/** Sentences that people did not understand, and paths that they do not have. */
const NEVER = [
  "no stateDir is set",
  "or it is not for those that do",
  "it was removed",
  "see npm's message",
  "register in a sandbox without grants",
  "1 packages",
  "see docs/",
  "{known}",
  "nobody else's",
  "whoever",
  "as it is there",
  "before him",
  "its token cannot be read",
  "what is there to be accepted",
];

const socketOf = (text: string) => /ready: (\S+)/.exec(text)![1]!;

describe("an operator", { timeout: 90_000 }, () => {
  let me: Person;
  const at = (...parts: string[]) => join(me.home, ...parts);
  /** Where no walls can stand. */
  const without = (command: string) => me.sh(`unshare --user --map-root-user sh -c '${NO_NAMESPACES} && ${command}' 2>&1`);
  beforeAll(async () => {
    me = await Person.begin({
      "weather-guard/creel.plugin.json": manifest("weather-guard", ASKS),
      "weather-guard/package.json": `{ "name": "weather-guard", "version": "0.4.0", "type": "module" }`,
      "weather-guard/index.js": GUARD,
      "redactor/creel.plugin.json": manifest("redactor"),
      "redactor/package.json": `{ "name": "redactor", "version": "1.0.0", "type": "module" }`,
      "redactor/index.js": `export default (api) => { api.on("message_sending", () => ({ content: "[redacted]" })); };\n`,
      "sink/creel.plugin.json": manifest("sink"),
      "sink/package.json": `{ "name": "sink", "version": "1.0.0", "type": "module" }`,
      "sink/index.js": `export default (api) => { ${HOOKS.join("\n")}\n for (const name of ["registerA", "registerB", "registerC", "registerD", "registerE"]) api[name]?.(() => {}); };\n`,
      "sign-off.ts": GUARD,
    });
  }, 120_000);

  it("O15 lists nothing where nothing is installed, and a refused install leaves nothing behind", async () => {
    expect(await me.creel("list")).toMatchObject({ code: 0, out: expect.stringContaining("no plugin is installed") });
    expect((await me.creel("install", "./weather-guard")).code).toBe(1);
    expect([existsSync(at("creel.json")), existsSync(at(".creel"))]).toEqual([false, false]);
  });

  it("O8 O14 asks the doctor before anything is installed, and with a creel.json that does not load", async () => {
    expect((await me.creel("doctor")).out).toMatch(/✓ state +nothing is installed here: "creel install" creates the state\s+folder/);
    mkdirSync(at("wrong"));
    writeFileSync(at("wrong/creel.json"), `{ "stateDir": ".creel", }}`);
    const { code, out } = await me.run("creel", ["doctor"], at("wrong"));
    expect([code, /✗ config/.test(out), /✓ state/.test(out)]).toEqual([1, true, false]);
    expect(out).toContain("not checked: creel.json does not load");
  });

  it.runIf(hasPty && existsSync("/usr/bin/less"))(
    "O10 reads a review that is longer than the screen page by page, and is asked below it",
    async () => {
      const screen = me.terminal("stty rows 20; TERM=xterm LESSHISTFILE=- creel install ./sink");
      await screen.shows("press Space for more, q to go on");
      expect(screen.text()).not.toContain("Install it?");
      screen.type("q");
      await screen.shows("Install it?");
      screen.type("n\n");
      expect(await screen.ended).toBe(1);
    },
  );

  it.runIf(hasPty).each([
    ["Ctrl-C", CTRL_C],
    ["Ctrl-D", CTRL_D],
  ])("O1 leaves a permission question with %s: exit code 130, and nothing is installed", async (_, key) => {
    const screen = me.terminal("creel install ./weather-guard");
    await screen.shows("[c]hoose permissions:");
    screen.type("c\n");
    await screen.shows("[Y/n]");
    screen.type(key);
    expect(await screen.ended).toBe(130);
    expect(screen.text()).toContain("Nothing was installed");
    expect((await me.creel("list")).out).toContain("no plugin is installed");
  });

  it("O10 decides by three lines at the top of a review; hooks and remarks are grouped", async () => {
    const { out } = await me.creel("install", "./sink");
    const lines = out.split("\n");
    const first = lines.findIndex((line) => line.startsWith("  Can stop"));
    expect(lines.slice(first, first + 12).filter((line) => /^ {2}Can (?:stop|see|send)/.test(line))).toHaveLength(3);
    expect(first).toBeLessThan(lines.findIndex((line) => line === "Hooks"));
    expect(lines.filter((line) => /does nothing here/.test(line)).length).toBeLessThanOrEqual(2);
  });

  it("O5 reads in the review of a filter what happens when it fails", async () => {
    const review = await me.creel("install", "./redactor");
    expect(review.out).toContain("if it fails: messages go out as they are");
    const [redactor, guard] = await Promise.all([me.accept(review, "./redactor"), me.install("./weather-guard")]);
    expect([redactor.code, guard.code]).toEqual([0, 0]);
  });

  it("O6 O7 mistypes a grant, or grants what was never requested, and is told what is possible", async () => {
    const typo = await me.creel("permissions", "grant", "weather-guard", "ftch");
    expect([typo.code, typo.text.includes("kv")]).toEqual([1, true]);
    const unasked = await me.creel("permissions", "grant", "weather-guard", "fetch:http://api.exmple.com");
    expect(unasked.code).toBe(1);
    expect(unasked.text).toContain("--unasked");
    expect((await me.creel("permissions", "revoke", "weather-guard", "wasm")).text).not.toContain("{");
  });

  it("O4 is told by the review and by call that no walls can stand here, in words without the kernel's", async (test) => {
    test.skip((await without("true")).code !== 0, "no user namespace can be made here");
    const all = await Promise.all([
      without("creel install ./sink"),
      without(String.raw`creel call before_tool_call --event "{\"toolName\":\"t\",\"params\":{}}"`),
    ]);
    for (const { stdout } of all) {
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(
        "the sandbox has no walls here: a plugin that escapes from V8 can reach this machine",
      );
      expect(stdout).not.toContain("No space left on device");
    }
  });

  it("O11 gets an error as data with --json, and O15 the id that was meant", async () => {
    const { code, out } = await me.creel("inspect", "weather-gaurd", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      error: { code: "ERR_STATE_UNKNOWN", message: expect.stringContaining('did you mean "weather-guard"?'), fix: expect.any(String) },
    });
  });

  it("O2 does not take changed code by an update without a yes, and sees a row about code", async () => {
    writeFileSync(at("weather-guard/index.js"), GUARD.replace('"no"', '"never"'));
    const { code, text } = await me.creel("update", "weather-guard");
    expect(code).toBe(1);
    expect(text).toMatch(/\+ code +1 file, \+1 -1 lines/);
    writeFileSync(at("weather-guard/index.js"), GUARD);
  });

  it("O3 O5 sees that a changed file keeps a filter from loading, and repairs it as advised, keeping its permissions", async () => {
    const bundle = globSync(".creel/store/*/bundle.js", { cwd: me.home }).find((file) =>
      readFileSync(at(file), "utf8").includes("redacted"),
    );
    const before = readFileSync(at(bundle!));
    writeFileSync(at(bundle!), `${before.toString()}//x`);
    appendFileSync(at(bundle!), "//x");
    expect((await me.creel("inspect", "redactor")).text).toContain("changed");
    const called = await me.creel("call", "message_sending", "--event", '{"to":"ann","content":"ghp_x"}', "--json");
    expect((JSON.parse(called.out) as { calls: unknown[] }).calls).toHaveLength(1);
    const repaired = await me.creel("install", "./redactor");
    expect(repaired.text).toContain("restored");
    expect(readFileSync(at(bundle!))).toEqual(before);
  });

  it("O12 grants the decision about later installs by name only", async () => {
    write(at("judge"), {
      "creel.plugin.json": manifest("judge"),
      "package.json": `{ "name": "judge", "version": "1.0.0", "type": "module" }`,
      "index.js": `export default (api) => { api.on("before_install", () => ({ block: true, blockReason: "mine" })); };\n`,
    });
    expect((await me.install("./judge")).code).toBe(0);
    const later = await me.install("./sink");
    expect([later.code, later.text.includes("creel permissions grant judge install")]).toEqual([0, true]);
    expect((await me.creel("uninstall", "judge", "--purge")).code).toBe(0);
    expect((await me.creel("uninstall", "sink")).text).toContain("it has stored nothing");
  });

  it("O13 cannot install a single file, and is told what to do", async () => {
    expect((await me.creel("install", "./sign-off.ts")).text).toContain("put it into a folder with a creel.plugin.json");
  });

  it("O15 explains the last block, and completes ids", async () => {
    await me.creel("call", "before_tool_call", "--event", '{"toolName":"rm","params":{}}');
    expect((await me.creel("explain", "last", "--plugin", "weather-guard", "--since", "1h")).out).toContain("block by weather-guard");
    expect((await me.creel("list", "--ids")).out.split("\n")).toContain("weather-guard");
    expect((await me.creel("completion", "bash")).out).toContain("list --ids");
    expect((await me.creel("help", "operating")).out).toContain("# Operating");
  });

  it.runIf(hasPty)("O9 serves two projects at once; tail names the host it follows, and serve is readable at a terminal", async () => {
    const other = at("other");
    mkdirSync(other);
    writeFileSync(join(other, "creel.json"), `{ "stateDir": ".creel" }`);
    const [mine, theirs] = [me.terminal("creel serve"), me.terminal("creel serve", other)];
    await Promise.all([mine.shows("ready: "), theirs.shows("ready: ")]);
    expect(socketOf(mine.text())).not.toBe(socketOf(theirs.text()));
    expect(mine.text()).not.toContain('{"level"');
    const event = ["--event", '{"toolName":"ls","params":{}}'];
    expect((await me.creel("call", "before_tool_call", ...event)).err).toContain("--serve asks the one that creel serve runs here");
    expect((await me.creel("call", "before_tool_call", "--serve", ...event)).text).toMatch(/^before_tool_call {2}pass\n(?![^]*--serve)/);
    const tail = me.terminal("creel tail", other);
    await tail.shows(socketOf(theirs.text()));
    for (const screen of [tail, mine, theirs]) {
      screen.type(CTRL_C);
      expect(await screen.ended).toBe(0);
    }
  });

  it.runIf(process.getuid?.() === 0)("O8 hears of a full disk in a sentence with a path and a remedy", async (test) => {
    mkdirSync(at("full"));
    const script = `mount -t tmpfs -o size=12k tmpfs ${at("full")} && exec creel install ./weather-guard --state-dir ${at("full/state")} --json`;
    const { text } = await me.run("unshare", ["--mount", "sh", "-c", script]);
    test.skip(/mount: |unshare: /.test(text), "no file system can be mounted here");
    expect(text).toMatch(/(?:the disk is full, so Creel could not write to|cannot use the state folder) \S+/);
    expect(text).toMatch(/disk[^]*Fix: .*room/);
    expect(text).not.toContain("    at ");
  });

  it("O14 reads nothing that a person cannot understand", () => {
    const all = me.seen.join("\n");
    expect(all.length).toBeGreaterThan(5_000);
    expect(NEVER.filter((words) => all.includes(words))).toEqual([]);
  });
});

/** What stopped people in their first hour with Creel: each sentence of the command line that they needed. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { sinceOf } from "../../src/cli/explain/find.ts";
import { runCli } from "../../src/cli/cli.ts";
import { reviewPage } from "../../src/cli/plugins/review-page.ts";
import { folded } from "../../src/cli/ui/fold.ts";
import { paged } from "../../src/cli/ui/pager.ts";
import { defineVerb } from "../../src/cli/verb.ts";
import type { Terminal } from "../../src/cli/ui/terminal.ts";
import { databaseName } from "../../src/host/services/kv/kv.ts";
import type { Review } from "../../src/install/review/review.ts";
import { reviewHooks } from "../../src/install/review/review.ts";
import { CATALOG } from "../../src/protocol/catalog.ts";
import { creelHere } from "../support/cli-in-process.ts";
import { CACHE } from "../support/creel.ts";
import { folder, QUICK } from "../support/files.ts";
import { putInstalled } from "../support/installed.ts";
import { hasPty, onTerminal } from "../support/pty.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LISTENER = `export default (api) => { api.on("message_sending", () => {}); };`;

interface Failure {
  readonly error: { readonly code: string; readonly message: string; readonly fix: string };
}

/** A page in memory. */
function sheet(more: Partial<Terminal> = {}): { terminal: Terminal; lines: string[] } {
  const lines: string[] = [];
  return { lines, terminal: { width: 80, line: (text = "") => void lines.push(...text.split("\n")), paint: (_, text) => text, ...more } };
}

describe("an error", () => {
  it("with --json is data on stdout, whatever kind of error it is; people read stderr all the same", async () => {
    const dir = folder({}, QUICK);
    await putInstalled(dir, "redact-secrets", LISTENER);
    const cases: [string[], number, string, string][] = [
      [["inspect", "redact-secret", "--state-dir", dir, "--json"], 1, "ERR_STATE_UNKNOWN", 'did you mean "redact-secrets"?'],
      [["inspect", "--json", "--nope"], 2, "ERR_USAGE", "--nope"],
      [["nope", "--json"], 2, "ERR_USAGE", 'there is no verb "nope"'],
    ];
    for (const [args, code, name, text] of cases) {
      const ended = await creelHere(...args);
      const { error } = JSON.parse(ended.out) as Failure;
      expect([ended.code, error.code, Object.keys(error)]).toEqual([code, name, ["code", "message", "fix"]]);
      expect(error.message).toContain(text);
      expect(ended.err).toContain(text);
    }
    // Behind "--" it is an argument.
    expect((await creelHere("inspect", "x", "--state-dir", dir, "--", "--json")).out).toBe("");
  });

  it.each([
    ["ENOSPC", "the disk is full, so Creel could not write to /data/x", "make room"],
    ["EROFS", "Creel cannot write to /data/x: the file system is read-only", "stateDir"],
    ["EACCES", "this user may not use /data/x: permission denied", "owner"],
    ["EMFILE", "too many files are open, so Creel could not open /data/x", "ulimit -n"],
  ])("of the system, %s, is a sentence with the path and a remedy, without a stack", async (code, message, fix) => {
    const fails = (path: string | undefined) =>
      defineVerb({
        name: "fails",
        summary: "fails",
        options: {},
        examples: ["creel fails"],
        prints: "nothing",
        run: () => Promise.reject(Object.assign(new Error(`${code}: oops, write`), { code, syscall: "write", path })),
      });
    const [out, err] = [sheet(), sheet()];
    expect(await runCli(["fails", "--json"], [fails("/data/x")], { out: out.terminal, err: err.terminal })).toBe(1);
    expect(err.lines).toEqual([`creel: ${message}`, expect.stringContaining(fix)]);
    expect((JSON.parse(out.lines.join("\n")) as Failure).error.message).toBe(message);
    // A write to an open file names none: a folder is named all the same.
    const bare = sheet();
    await runCli(["fails"], [fails(undefined)], { out: out.terminal, err: bare.terminal });
    expect(bare.lines[0]).toMatch(/ \/\S+/);
  });

  it.runIf(hasPty && existsSync("/dev/full"))("of a full disk behind stdout is a sentence, too", async () => {
    const screen = onTerminal(["sh", "-c", `${process.execPath} -C source ${join(ROOT, "src/cli/main.ts")} --help > /dev/full`], {
      cwd: ROOT,
      env: { PATH: process.env.PATH ?? "", NODE_COMPILE_CACHE: CACHE, NO_COLOR: "1" },
    });
    expect(await screen.ended).toBe(1);
    expect(screen.text()).toContain("creel: the disk is full, so Creel could not write to stdout");
    expect(screen.text()).not.toContain("    at ");
  });

  it("of a manifest names all problems, each with its line and what was meant", async () => {
    const manifest = `{\n  "id": "x",\n  "version": 3,\n  "permissions": {\n    "shedule": {},\n    "kv": 7,\n    "fetch": [{ "origin": "https://a.example", "method": ["GET"], "reason": "r" }]\n  }\n}\n`;
    const { code, err } = await creelHere("check", folder({ "creel.plugin.json": manifest, "index.ts": LISTENER }));
    expect(code).toBe(1);
    const problems = err.split("\n").filter((line) => line.startsWith("  line "));
    expect(problems).toEqual([
      expect.stringMatching(/line 3 +version: expected string/),
      expect.stringMatching(/line 7 +permissions\.fetch\.0\.method: there is no such key; did you mean "methods"\?/),
      expect.stringMatching(/line 6 +permissions\.kv: expected object/),
      expect.stringMatching(/line 5 +permissions\.shedule: there is no such key; did you mean "schedule"\?/),
    ]);
  });

  it("of the bundler keeps its frame, and has file, line and column", async () => {
    const broken = folder({ "creel.plugin.json": `{ "id": "x" }`, "index.ts": `export default () => {\n  const isForbidden == 3;\n};\n` });
    const { out } = await creelHere("check", broken);
    expect(out).toContain("(index.ts:2:9)");
    expect(out).toMatch(/\n +╭─\[ index\.ts:2:9 \]\n(?:.*\n)? *2 │ {3}const isForbidden == 3;\n/);
    const { problems } = JSON.parse((await creelHere("check", broken, "--json")).out) as { problems: { at: string }[] };
    expect(problems[0]!.at).toBe("index.ts:2:9");
  });
});

describe("creel help", () => {
  it("prints a verb, a page, a hook and an error code, and finds what was meant", async () => {
    expect((await creelHere("help", "install")).out).toContain("Usage: creel install");
    expect((await creelHere("help", "embedding")).out).toContain("openHost");
    const hook = (await creelHere("help", "before_tool_call")).out;
    expect([hook.startsWith("### `before_tool_call`"), hook.match(/^### /gm)]).toEqual([true, ["### "]]);
    expect((await creelHere("help", "ERR_GRANT_MISSING")).out).toContain("Fix: ");
    expect(await creelHere("help", "instal")).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "install"?') });
    const all = (await creelHere("help")).out;
    for (const page of ["embedding", "writing-plugins", "config"]) expect(all).toMatch(new RegExp(`^ {2}${page} +\\S`, "m"));
  });
});

it("no text that is printed names a page by a path that only the repository has", () => {
  const printed = globSync("src/**/*.ts", { cwd: ROOT }).flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .filter((line) => !/^\s*(?:\*|\/[/*])/.test(line) && /(?<!node_modules\/creel\/)docs\/[\w/-]+\.md/.test(line.replace(/\/[/*].*/, "")))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(printed).toEqual([]);
});

describe("creel uninstall --purge", () => {
  it("deletes the plugin's store, files and jobs, and nothing of others; without it they stay", async () => {
    const dir = folder({}, QUICK);
    const ids = ["mine", "other"];
    const file = (kind: string, id: string) => join(dir, kind, `${databaseName(id)}.sqlite`);
    for (const id of ids) {
      await putInstalled(dir, id, LISTENER);
      for (const kind of ["kv", "volumes"]) {
        mkdirSync(join(dir, kind), { recursive: true });
        for (const end of ["", "-wal"]) writeFileSync(`${file(kind, id)}${end}`, "");
      }
    }
    using jobs = new DatabaseSync(join(dir, "schedule.sqlite"));
    jobs.exec("CREATE TABLE job (plugin TEXT, id TEXT); INSERT INTO job VALUES ('mine', 'a'), ('mine', 'b'), ('other', 'a')");
    const kept = await creelHere("uninstall", "other", "--state-dir", dir);
    expect(kept.out).toContain("(--purge deletes it)");
    const { out } = await creelHere("uninstall", "mine", "--purge", "--state-dir", dir, "--json");
    expect((JSON.parse(out) as { purged: { jobs: number; files: string[] } }).purged).toMatchObject({ jobs: 2, files: { length: 4 } });
    expect(["kv", "volumes"].flatMap((kind) => ids.map((id) => existsSync(file(kind, id))))).toEqual([false, true, false, true]);
    expect(jobs.prepare("SELECT plugin FROM job").all()).toEqual([{ plugin: "other" }]);
    // As the first line said, although it is not installed any more.
    expect(await creelHere("uninstall", "other", "--purge", "--state-dir", dir)).toMatchObject({
      code: 0,
      out: expect.stringContaining("other was uninstalled before, and its stored data was deleted"),
    });
    expect([existsSync(file("kv", "other")), jobs.prepare("SELECT plugin FROM job").all()]).toEqual([false, []]);
    expect((await creelHere("uninstall", "other", "--purge", "--state-dir", dir)).code).toBe(1);
    await putInstalled(dir, "third", LISTENER);
    expect((await creelHere("uninstall", "third", "--state-dir", dir)).out).toContain("it has stored nothing");
  });
});

it.each(["outdated", "update", "list"])("creel %s where nothing was ever installed says so, and makes nothing", async (verb) => {
  const here = folder({}, QUICK);
  const args = ["-C", "source", "--disable-warning=ExperimentalWarning", join(ROOT, "src/cli/main.ts"), verb];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: here,
    encoding: "utf8",
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
  });
  expect([status, stdout.split(":")[0]!.trim(), readdirSync(here)]).toEqual([0, "no plugin is installed", []]);
});

it("--since takes durations and dates, and says what it takes otherwise", async () => {
  const now = Date.parse("2026-02-01T00:00:00Z");
  expect([sinceOf("30m", now), sinceOf("2h", now), sinceOf("7d", now)].map((at) => (now - at) / 60_000)).toEqual([30, 120, 10_080]);
  expect(sinceOf("2026-01-31")).toBe(Date.parse("2026-01-31"));
  expect(() => sinceOf("yesterday")).toThrow('--since cannot be "yesterday"');
});

describe("an installation that is refused", () => {
  it("leaves nothing behind in an empty folder, and a single file is not taken for an archive", async () => {
    const dir = join(folder({ "a.ts": LISTENER }, QUICK), "state");
    const plugin = folder({ "creel.plugin.json": `{ "id": "x" }`, "index.ts": LISTENER });
    expect((await creelHere("install", plugin, "--state-dir", dir)).code).toBe(1);
    expect(existsSync(dir)).toBe(false);
    const { err } = await creelHere("install", join(dir, "../a.ts"), "--state-dir", dir);
    expect([err.includes("it is a single file; put it into a folder with a creel.plugin.json"), existsSync(dir)]).toEqual([true, false]);
  });
});

const review = (hooks: string[], keys: string[]): Review =>
  ({
    id: "x",
    name: "x",
    source: { spec: "x", resolved: "x", integrity: "x" },
    bundle: { integrity: "x", bytes: 1 },
    fetchedBytes: 1,
    dependencies: [],
    hooks: reviewHooks(hooks.map((hook) => ({ hook, priority: 0 }))),
    functions: [],
    permissions: keys.map((key) => ({ key, from: key === "kv" ? "scan" : "manifest", words: key, grant: {}, isNew: true })),
    kept: [],
    scan: { files: 1, origins: [], env: [], findings: [] },
    remarks: [],
    tried: { log: [], refused: [] },
    changes: [],
  }) as unknown as Review;

const long = (page: Terminal) => Array.from({ length: 30 }, (_, at) => page.line(`row ${at}`));

describe("a review", () => {
  it("begins with what it can stop, what it sees and changes, and where it can send", () => {
    const { terminal, lines } = sheet();
    reviewPage(
      review(["before_tool_call", "message_sending", "llm_input"], ["prompt", "fetch:https://a.example", "env:REGION"]),
      "d",
      terminal,
    );
    const [stops, sees, sends] = lines.slice(3).filter((line) => line.startsWith("  Can "));
    expect(stops).toMatch(/^ {2}Can stop +before_tool_call, message_sending; even by failing:$/);
    expect(sees).toMatch(/^ {2}Can see +reads conversations, the variable REGION; changes prompts/);
    expect(sends).toMatch(/^ {2}Can send +to https:\/\/a\.example$/);
    const quiet = sheet();
    reviewPage(review(["gateway_start"], ["kv"]), "d", quiet.terminal);
    expect(quiet.lines.filter((line) => line.startsWith("  Can "))).toEqual([
      expect.stringContaining("nothing"),
      expect.stringContaining("changes nothing"),
      expect.stringContaining("nothing: it asks for no network"),
    ]);
  });

  it("of a plugin with every hook groups them by risk and fits two screens", () => {
    const { terminal, lines } = sheet();
    reviewPage(review(Object.keys(CATALOG), []), "d", terminal);
    expect(lines.filter((line) => /^ {2}it (?:can|reads|is) .* \(\d+\)$/.test(line)).length).toBeGreaterThanOrEqual(4);
    expect(lines.length).toBeLessThanOrEqual(110);
    for (const hook of Object.keys(CATALOG)) expect(lines.join("\n")).toContain(hook);
  });

  it("folds remarks that say the same about different names", () => {
    const remarks = ["a", "b", "c", "d", "e"].map((name) => `api.${name} does nothing here`);
    expect(folded([...remarks, "something else"])).toEqual([
      "api.a does nothing here (and the same of 4 more: api.b, api.c, api.d, …)",
      "something else",
    ]);
  });

  it("that is longer than the screen goes to the pager, and a shorter one does not", () => {
    const shown = folder({});
    process.env.PAGER = `tee ${join(shown, "page")} > ${join(shown, "out")}; echo "$LESSSECURE" > ${join(shown, "secure")}`;
    try {
      const small = sheet({ rows: 10 });
      expect([paged(small.terminal, (page) => void long(page)), small.lines]).toEqual([true, []]);
      expect(readFileSync(join(shown, "page"), "utf8")).toContain("row 29");
      expect(readFileSync(join(shown, "secure"), "utf8")).toBe("1\n");
      const tall = sheet({ rows: 50 });
      expect([paged(tall.terminal, (page) => void long(page)), tall.lines.length]).toEqual([false, 30]);
      process.env.PAGER = "/nonexistent/pager";
      const none = sheet({ rows: 10 });
      expect([paged(none.terminal, (page) => void long(page)), none.lines.length]).toEqual([true, 30]);
    } finally {
      delete process.env.PAGER;
    }
  });
});

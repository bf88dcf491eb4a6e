/** The commands about installed plugins: what they say, what they change, and that nobody says yes by accident. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { consentOf, decide } from "../../../../src/cli/plugins/consent.ts";
import type { Consent } from "../../../../src/cli/plugins/consent.ts";
import type { Keyboard } from "../../../../src/cli/ui/question.ts";
import type { Review } from "../../../../src/install/review/review.ts";
import { openState } from "../../../../src/state/state.ts";
import { factsOf, filesOf } from "../../../state/state-world.ts";
import { folder, QUICK, write } from "../../../support/files.ts";
import { listener, pluginFolder } from "../../../install/pipeline.ts";
import { creelHere } from "../../../support/cli-in-process.ts";

interface Row {
  readonly id: string;
  readonly outcome: string;
  readonly digest: string;
  readonly permissions: string[];
  readonly enabled: boolean;
}

const ASKS = {
  fetch: [{ origin: "https://api.example.com", reason: "to look up the weather" }],
  kv: { reason: "remembers towns" },
};

describe("creel install, update, uninstall", () => {
  const home = folder({ "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none" } } // walls take a moment` }, QUICK);
  const config = ["--config", join(home, "creel.json")];
  const root = pluginFolder({ id: "weather", name: "The Weather", permissions: ASKS }, listener("llm_input", "message_sending"));
  const installed = async () => (JSON.parse((await creelHere("list", "--json", ...config)).out) as Row[]).map(({ id }) => id);

  it("without a terminal it is refused, and the digest to accept is named; another digest is refused, too; that one installs it", async () => {
    const refused = await creelHere("install", root, ...config);
    expect(refused.code).toBe(1);
    const digest = /--accept (sha256-\S+)/.exec(refused.err)![1]!;
    expect(refused.out).toContain(`Digest ${digest}`);
    expect(refused.out).toContain("fetch:https://api.example.com: send any requests to https://api.example.com");
    expect(refused.out).toContain("the author's reason: to look up the weather");
    const other = `sha256-${"A".repeat(43)}=`;
    const wrong = await creelHere("install", root, "--accept", other, ...config);
    expect([wrong.code, wrong.err.includes(other), await installed()]).toEqual([1, true, []]);
    const right = await creelHere("install", root, "--accept", digest, "--no-grant", "kv", "--json", ...config);
    expect(right.code).toBe(0);
    expect(JSON.parse(right.out)).toMatchObject({ outcome: "installed", digest, entry: { grants: { fetch: [{}] } } });
    expect(right.err).toContain("dry run");
    expect(await installed()).toEqual(["weather"]);
  });

  it("a manifest that is quoted in an error cannot paint the terminal", async () => {
    const hostile = pluginFolder({ id: "hostile", permissions: { "\u001b[31mred": 1 } }, listener("llm_input"));
    const { code, err } = await creelHere("install", hostile, ...config);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('"creel.plugin.json" is not valid at "permissions. [31mred": there is no such key'),
    ]);
    write(hostile, { "creel.plugin.json": JSON.stringify({ id: "hostile\u001b[31m" }) });
    // oxlint-disable-next-line no-control-regex -- that is the point
    expect((await creelHere("install", hostile, ...config)).err).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it("permissions are shown, granted and revoked by key", async () => {
    const shown = await creelHere("permissions", "show", "weather", ...config);
    expect(shown.out).toContain("✓ fetch:https://api.example.com");
    expect(shown.out).toContain("– kv: keep its own data across restarts (requested, not granted)");
    const granted = await creelHere("permissions", "grant", "weather", "kv", "env:TOKEN", "--unasked", "--json", ...config);
    expect((JSON.parse(granted.out) as Row).permissions).toEqual(["fetch:https://api.example.com", "env:TOKEN", "kv", "conversation"]);
    const revoked = await creelHere("permissions", "revoke", "weather", "kv", "--json", ...config);
    expect(JSON.parse(revoked.out)).toEqual({
      id: "weather",
      permissions: ["fetch:https://api.example.com", "env:TOKEN", "conversation"],
      refused: ["kv"],
    });
    const none = await creelHere("permissions", "grant", "weather", "everything", ...config);
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('"everything" is not the key of a permission')]);
    expect((await creelHere("permissions", "show", ...config)).code).toBe(2);
  });

  it("without a terminal, a grant that was never asked for or is not encrypted is refused with the command to use", async () => {
    const grant = (...flags: string[]) => creelHere("permissions", "grant", "weather", "fetch:http://api.exmple.com", ...config, ...flags);
    const refused = await grant();
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('did you mean "fetch:https://api.example.com"?')]);
    const command = `creel permissions grant weather fetch:http://api.exmple.com --config ${config[1]} --unasked --insecure`;
    expect(refused.err).toContain(command);
    expect([(await grant("--insecure")).code, (await grant("--unasked")).code]).toEqual([1, 1]);
    expect((await creelHere("permissions", "show", "weather", ...config)).out).not.toContain("exmple");
    expect((await grant("--unasked", "--insecure", "--json")).code).toBe(0);
    expect((await creelHere("permissions", "revoke", "weather", "fetch:http://api.exmple.com", ...config)).code).toBe(0);
  });

  it("an error that names keys names those that there are", async () => {
    const { err } = await creelHere("permissions", "grant", "weather", "ftch", ...config);
    expect(err).not.toContain("{known}");
  });

  it("an update keeps what was granted and refused, and says what changed", async () => {
    write(root, {
      "creel.plugin.json": JSON.stringify({ id: "weather", version: "1.1.0", permissions: ASKS }),
      "index.ts": listener("llm_input"),
    });
    const refused = await creelHere("update", ...config);
    expect(refused.code).toBe(1);
    expect(refused.out).toContain("- hook       message_sending");
    expect(refused.out).toContain("= permission env:TOKEN");
    const digest = /--accept (sha256-[^"]+)"/.exec(refused.err)![1]!;
    const { code, out } = await creelHere("update", "weather", "--accept", digest, ...config);
    expect([code, out.includes("✓ weather: 1.0.0 → 1.1.0")]).toEqual([0, true]);
    const { out: after } = await creelHere("permissions", "show", "weather", "--json", ...config);
    expect((JSON.parse(after) as Row).permissions).toEqual(["fetch:https://api.example.com", "env:TOKEN", "conversation"]);
    expect((await creelHere("update", "weather", ...config)).out).toContain("✓ weather is up to date");
  });

  it("one that asks for more is not, unless its digest is accepted", async () => {
    const wider = { ...ASKS, fetch: [...ASKS.fetch, { origin: "https://other.example.com", reason: "more" }] };
    write(root, { "creel.plugin.json": JSON.stringify({ id: "weather", version: "2.0.0", permissions: wider }) });
    const refused = await creelHere("update", "--json", ...config);
    const [{ outcome, digest }] = JSON.parse(refused.out) as [Row];
    expect([refused.code, outcome]).toEqual([1, "refused"]);
    expect(refused.err).toContain("the change was not accepted");
    expect((await creelHere("inspect", "weather", ...config)).out).toMatch(/^weather 1\.1\.0/);
    const taken = await creelHere("update", "weather", "--accept", digest, ...config);
    expect([taken.code, taken.out.includes("+ permission fetch:https://other.example.com")]).toEqual([0, true]);
  });

  it("a plugin is disabled, enabled and uninstalled by its id; one that is not there is named", async () => {
    expect((await creelHere("disable", "weather", ...config)).code).toBe(0);
    expect((await creelHere("list", ...config)).out).toMatch(/weather +2\.0\.0 +disabled/);
    expect(JSON.parse((await creelHere("enable", "weather", "--json", ...config)).out)).toEqual({ id: "weather", enabled: true });
    expect((await creelHere("uninstall", "weather", ...config)).code).toBe(0);
    expect(await installed()).toEqual([]);
    const gone = await creelHere("uninstall", "weather", ...config);
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('no plugin "weather" is installed')]);
  });
});

describe("creel list and inspect", () => {
  const dir = join(folder({}, QUICK), "state");
  const project = ["--state-dir", dir];
  beforeAll(async () => {
    const state = openState(dir);
    await state.transaction(async (tx) => {
      await tx.put({ ...factsOf("short"), enabled: false }, filesOf("short"));
      await tx.put(factsOf("a-much-longer-name"), filesOf("a-much-longer-name"));
    });
  });

  it("a list is a table whose columns stand below each other, without colours", async () => {
    const { out } = await creelHere("list", ...project);
    const lines = out.trimEnd().split("\n");
    expect(lines.map((line) => line.slice(20, 27))).toEqual(["version", "1.0.0  ", "1.0.0  "]);
    expect(lines[2]).toMatch(/^short +1\.0\.0 +disabled +1 +5 +https:/);
  });

  it("a plugin whose files were changed is shown as such, with the file, and the exit code is 1", async () => {
    expect((await creelHere("inspect", "short", ...project)).code).toBe(0);
    const { store } = (await openState(dir).read()).get("short")!;
    const file = join(dir, "store", store, "bundle.js");
    chmodSync(file, 0o644);
    writeFileSync(file, `${readFileSync(file, "utf8")} `);
    const { code, out } = await creelHere("inspect", "short", "--json", ...project);
    expect([code, (JSON.parse(out) as { fault: string }).fault]).toEqual([1, expect.stringContaining(`${file} differs`)]);
  });

  it("without a state folder the list is empty, and a plugin to inspect is not there: it says what to do", async () => {
    expect(await creelHere("list")).toEqual({ code: 0, out: "no plugin is installed: there is no creel.json here\n", err: "" });
    expect(JSON.parse((await creelHere("list", "--json")).out)).toEqual([]);
    const { code, err } = await creelHere("inspect", "x");
    expect([code, err]).toEqual([1, expect.stringContaining("--state-dir")]);
  });
});

const ask = (key: string, from: "manifest" | "scan") => ({ key, from, words: key, grant: { kv: true as const }, isNew: true });
const answering = (...answers: string[]): Consent => ({
  verb: "install",
  project: {},
  isUnasked: false,
  isInsecure: false,
  accept: [],
  grant: [],
  noGrant: [],
  ask: async () => answers.shift() ?? "",
  isOneOfMany: false,
});

describe("a person at a terminal", () => {
  const review = { permissions: [ask("kv", "manifest"), ask("fs", "scan")], kept: [] } as unknown as Review;
  const silent = { width: 80, line() {}, paint: (_: unknown, text: string) => text };
  it.each([
    ["yes grants what is asked for", ["y"], ["kv"]],
    ["anything else is a no", [""], false],
    ["a choice is made one by one, and confirmed", ["c", "n", "y", "y"], ["fs"]],
    ["an empty answer leaves it as it would be", ["c", "", "", "yes"], ["kv"]],
    ["a choice that is not confirmed is a no", ["c", "y", "y", ""], false],
  ] as const)("%s", async (_, answers, expected) => {
    const decision = await decide(review, "sha256-x", undefined, answering(...answers), silent);
    expect(decision).toEqual(expected === false ? { isAccepted: false } : { isAccepted: true, keys: new Set(expected) });
  });

  /** A terminal that says it is one, as readline sees it; node has no pseudo-terminals of its own. Answers are typed when a question is there. */
  async function typed(isTTY: boolean, ...keys: string[]) {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = Object.assign(new PassThrough(), { isTTY, columns: 80 });
    let shown = "";
    output.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
      if (stripVTControlCharacters(chunk.toString()).endsWith(" ")) input.write(keys.shift() ?? "");
    });
    const keyboard = { input, output } as unknown as Keyboard;
    const consent = consentOf({}, { verb: "install", isJson: false, outcome: () => "Nothing was installed.", keyboard });
    const decision = consent.ask && (await decide(review, "sha256-x", undefined, consent, silent));
    return { decision, shown };
  }

  it("types the answers, and is shown each permission by its key", async () => {
    const { decision, shown } = await typed(true, "c\r", "n\r", "y\r", "yes\r");
    expect(decision).toEqual({ isAccepted: true, keys: new Set(["fs"]) });
    expect(shown).toContain("Install it? [y]es, [N]o, [c]hoose permissions: ");
    for (const question of ["kv: kv [Y/n] ", "fs: fs [y/N] ", "Install it with these? [y/N] "]) expect(shown).toContain(question);
  });

  it.each([
    ["Return", "\r"],
    ["a word that only begins like yes", "yeah\r"],
  ])("who answers with %s has not said yes", async (_, key) => {
    expect((await typed(true, key)).decision).toEqual({ isAccepted: false });
    expect((await typed(true, "c\r", "y\r", "y\r", key)).decision).toEqual({ isAccepted: false });
  });

  it("is not asked where nobody sits", async () => {
    expect(await typed(false)).toEqual({ decision: undefined, shown: "" });
    const keyboard = { input: { isTTY: true }, output: { isTTY: true } } as Keyboard;
    expect(consentOf({}, { verb: "install", isJson: true, outcome: () => "", keyboard }).ask).toBeUndefined();
  });

  it("a permission that would not be granted cannot be left out", async () => {
    const consent = { ...answering("y"), noGrant: ["fs"] };
    await expect(decide(review, "sha256-x", undefined, consent, silent)).rejects.toMatchObject({ code: "ERR_INSTALL_GRANT" });
  });
});

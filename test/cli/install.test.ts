/** The commands about installed plugins: what they say, what they change, and that nobody says yes by accident. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { consentOf, decide } from "../../src/cli/plugins/consent.ts";
import type { Consent, Keyboard } from "../../src/cli/plugins/consent.ts";
import type { Review } from "../../src/install/review.ts";
import { openState } from "../../src/state/state.ts";
import { factsOf, filesOf } from "../state/state-world.ts";
import { folder, QUICK, write } from "../support/files.ts";
import { listener, pluginFolder } from "../install/pipeline.ts";
import { creelHere } from "./in-process.ts";

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
    expect(right.err).toContain("dry registration");
    expect(await installed()).toEqual(["weather"]);
  });

  it("a manifest that is quoted in an error cannot paint the terminal", async () => {
    const hostile = pluginFolder({ id: "hostile", permissions: { "\u001b[31mred": 1 } }, listener("llm_input"));
    const { code, err } = await creelHere("install", hostile, ...config);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('"creel.plugin.json" is not valid at "permissions": Unrecognized key: " [31mred"'),
    ]);
    write(hostile, { "creel.plugin.json": JSON.stringify({ id: "hostile\u001b[31m" }) });
    // oxlint-disable-next-line no-control-regex -- that is the point
    expect((await creelHere("install", hostile, ...config)).err).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it("permissions are shown, granted and revoked by key", async () => {
    const shown = await creelHere("permissions", "show", "weather", ...config);
    expect(shown.out).toContain("✓ fetch:https://api.example.com");
    expect(shown.out).toContain("– kv: keep data of its own across restarts (asked for, not granted)");
    const granted = await creelHere("permissions", "grant", "weather", "kv", "env:TOKEN", "--json", ...config);
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

  it("an update that asks for no more is taken, keeps what was granted and refused, and says what changed", async () => {
    write(root, {
      "creel.plugin.json": JSON.stringify({ id: "weather", version: "1.1.0", permissions: ASKS }),
      "index.ts": listener("llm_input"),
    });
    const { code, out } = await creelHere("update", ...config);
    expect(code).toBe(0);
    expect(out).toContain("- hook       message_sending");
    expect(out).toContain("= permission env:TOKEN");
    expect(out).toContain("✓ weather: 1.0.0 → 1.1.0");
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
    expect(refused.err).toContain("it asks for more than before");
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
  const place = ["--state-dir", dir];
  beforeAll(async () => {
    const state = openState(dir);
    await state.transaction(async (tx) => {
      await tx.put({ ...factsOf("short"), enabled: false }, filesOf("short"));
      await tx.put(factsOf("a-much-longer-name"), filesOf("a-much-longer-name"));
    });
  });

  it("a list is a table whose columns stand below each other, without colours", async () => {
    const { out } = await creelHere("list", ...place);
    const lines = out.trimEnd().split("\n");
    expect(lines.map((line) => line.slice(20, 27))).toEqual(["version", "1.0.0  ", "1.0.0  "]);
    expect(lines[2]).toMatch(/^short +1\.0\.0 +disabled +1 +5 +https:/);
  });

  it("a plugin whose files were changed is shown as such, with the file, and the exit code is 1", async () => {
    expect((await creelHere("inspect", "short", ...place)).code).toBe(0);
    const { store } = (await openState(dir).read()).get("short")!;
    const file = join(dir, "store", store, "bundle.js");
    chmodSync(file, 0o644);
    writeFileSync(file, `${readFileSync(file, "utf8")} `);
    const { code, out } = await creelHere("inspect", "short", "--json", ...place);
    expect([code, (JSON.parse(out) as { fault: string }).fault]).toEqual([1, expect.stringContaining(`${file} differs`)]);
  });

  it("without a state folder it says what to do", async () => {
    const { code, err } = await creelHere("list");
    expect([code, err]).toEqual([1, expect.stringContaining("--state-dir")]);
  });
});

const ask = (key: string, from: "manifest" | "scan") => ({ key, from, words: key, grant: { kv: true as const }, isNew: true });
const answering = (...answers: string[]): Consent => ({
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
    const consent = consentOf({}, false, false, keyboard);
    const decision = consent.ask && (await decide(review, "sha256-x", undefined, consent, silent));
    return { decision, shown };
  }

  it("types the answers, and is shown each permission by its key", async () => {
    const { decision, shown } = await typed(true, "c\r", "n\r", "y\r", "yes\r");
    expect(decision).toEqual({ isAccepted: true, keys: new Set(["fs"]) });
    expect(shown).toContain("Install it? [y]es, [N]o, [c]hoose what is granted: ");
    for (const question of ["kv: kv [Y/n] ", "fs: fs [y/N] ", "Install it with these? [y/N] "]) expect(shown).toContain(question);
  });

  it.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
    ["Return", "\r"],
    ["a word that only begins like yes", "yeah\r"],
  ])("who answers with %s has not said yes", async (_, key) => {
    expect((await typed(true, key)).decision).toEqual({ isAccepted: false });
    expect((await typed(true, "c\r", "y\r", "y\r", key)).decision).toEqual({ isAccepted: false });
  });

  it("is not asked where nobody sits", async () => {
    expect(await typed(false)).toEqual({ decision: undefined, shown: "" });
    expect(consentOf({}, true, false, { input: { isTTY: true }, output: { isTTY: true } } as Keyboard).ask).toBeUndefined();
  });

  it("a permission that would not be granted cannot be left out", async () => {
    const consent = { ...answering("y"), noGrant: ["fs"] };
    await expect(decide(review, "sha256-x", undefined, consent, silent)).rejects.toMatchObject({ code: "ERR_INSTALL_GRANT" });
  });
});

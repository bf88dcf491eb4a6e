/**
 * An operator's bad days with the packed package: a lock that was cut, edited or deleted, an open or read-only state folder, a wrong creel.json, two
 * installs at once. Each step that recovers is what the screen says, typed as it says it.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Person } from "./person.ts";

interface Check {
  readonly area: string;
  readonly status: string;
  readonly what: string;
  readonly where?: string;
  readonly fix?: string;
}

const GUARD = `export default (api) => { api.on("before_tool_call", (event) => event.toolName === "rm" ? { block: true, blockReason: "no" } : undefined); };\n`;
const files = (id: string) => ({
  [`${id}/creel.plugin.json`]: JSON.stringify({ id, version: "1.0.0", permissions: { kv: { reason: "counts" } } }),
  [`${id}/package.json`]: JSON.stringify({ name: id, version: "1.0.0", type: "module" }),
  [`${id}/index.js`]: GUARD,
});
const CONFIG = `{ "stateDir": ".creel" }`;

describe("an operator recovers", { timeout: 90_000 }, () => {
  let me: Person;
  const at = (...parts: string[]) => join(me.home, ...parts);
  const doctor = async (): Promise<Check[]> => (JSON.parse((await me.creel("doctor", "--json")).out) as { checks: Check[] }).checks;
  const problems = async (): Promise<Check[]> => (await doctor()).filter(({ status }) => status !== "ok");
  const granted = async () => (await me.creel("permissions", "show", "guard")).out;
  const call = () => me.creel("call", "before_tool_call", "--event", '{"toolName":"rm","params":{}}');
  beforeAll(async () => {
    me = await Person.begin({ "creel.json": CONFIG, ...files("guard"), ...files("one"), ...files("two") });
    await me.install("./guard");
    execFileSync("cp", ["-a", at(".creel"), at("backup")]);
  }, 120_000);
  beforeEach(() => {
    rmSync(at(".creel"), { recursive: true });
    execFileSync("cp", ["-a", at("backup"), at(".creel")]);
    writeFileSync(at("creel.json"), CONFIG);
  });

  describe.each([
    ["cut off", (lock: string) => lock.slice(0, 100)],
    ["edited", (lock: string) => lock.replace('"enabled": true', '"enabled": false')],
    ["deleted", () => undefined],
  ])("from a lock that was %s", (_, spoil) => {
    beforeEach(() => {
      const lock = readFileSync(at("backup/creel.lock"), "utf8");
      const spoilt = spoil(lock);
      if (spoilt === lock) throw new Error("the lock is as it was");
      if (spoilt === undefined) rmSync(at(".creel/creel.lock"));
      else writeFileSync(at(".creel/creel.lock"), spoilt);
    });

    it("which no command takes for an empty one: each says what to do", async () => {
      const [found] = await problems();
      expect(found).toMatchObject({ area: "lock", status: "broken", where: at(".creel/creel.lock") });
      for (const { code, text } of [await me.creel("list"), await call(), await me.creel("install", "./one")]) {
        expect(code).toBe(1);
        expect(text).toContain("Fix: restore it from a backup; or move stateDir away, install the plugins again");
      }
    });

    it("by its backup", async () => {
      cpSync(at("backup/creel.lock"), at(".creel/creel.lock"));
      expect(await problems()).toEqual([]);
      expect((await call()).out).toContain("block");
    });

    it("without a backup, by moving the state folder away and installing again", async () => {
      renameSync(at(".creel"), at(`.creel-${Date.now()}`));
      expect((await me.install("./guard")).code).toBe(0);
      expect(await problems()).toEqual([]);
      expect((await call()).out).toContain("block");
    });
  });

  it("from a state folder that others can write, by the command that doctor prints", async () => {
    chmodSync(at(".creel"), 0o777);
    const [found, ...others] = await problems();
    expect([found!.area, others]).toEqual(["state", []]);
    expect((await me.sh(found!.fix!)).code).toBe(0);
    expect([await problems(), statSync(at(".creel")).mode & 0o077]).toEqual([[], 0]);
  });

  it.each([
    [`{ "stateDir": ".creel",\n "plugins": { "entries": { "guard": { "enabld": false } } } }`, 2, 'write "enabled"'],
    [`{ "stateDir": ".creel",\n "sandbox": { "walls": "on" } }`, 2, '"required"'],
    [`{ "stateDir": ".creel",\n\n "plugins": [ }`, 3, "correct the file"],
  ])("from a wrong creel.json, by the line and the words that doctor names: %j", async (text, line, fix) => {
    writeFileSync(at("creel.json"), text);
    const [found] = await problems();
    expect([found!.area, found!.where, found!.fix]).toEqual(["config", `${at("creel.json")}:${line}`, expect.stringContaining(fix)]);
  });

  it("nothing from two installs at once: both are installed", async () => {
    const both = await Promise.all([me.install("./one"), me.install("./two")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect((await me.creel("list", "--ids")).out.trim().split("\n")).toEqual(["guard", "one", "two"]);
    expect(await problems()).toEqual([]);
  });

  it("from a disabled plugin and a revoked permission, by the opposite command", async () => {
    for (const command of [
      ["disable", "guard"],
      ["permissions", "revoke", "guard", "kv"],
    ])
      expect((await me.creel(...command)).code).toBe(0);
    expect((await call()).out).not.toContain("block by");
    expect(await granted()).not.toContain("✓ kv");
    for (const command of [
      ["enable", "guard"],
      ["permissions", "grant", "guard", "kv"],
    ])
      expect((await me.creel(...command)).code).toBe(0);
    expect((await call()).out).toContain("block");
    expect(await granted()).toContain("✓ kv");
  });

  it.runIf(process.getuid?.() === 0)("from a state folder on a read-only file system, which is named with what to do", async (test) => {
    const script = `mount --bind ${at(".creel")} ${at(".creel")} && mount -o remount,bind,ro ${at(".creel")} && (creel disable guard; code=$?; creel doctor; exit $code)`;
    const { code, text } = await me.run("unshare", ["--mount", "sh", "-c", script]);
    test.skip(/mount: |unshare: /.test(text), "no file system can be mounted here");
    expect([code, text]).toEqual([1, expect.stringContaining(at(".creel"))]);
    expect(text).toContain("Fix: ");
    expect(text).toMatch(/✗ state +Creel cannot write to/);
    // The stack of an error begins so.
    expect(text).not.toMatch(/\n {4}at /);
    expect((await me.creel("disable", "guard")).code).toBe(0);
  });
});

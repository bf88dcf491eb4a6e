/** `creel doctor`: it says of every layer whether it is on, by what or why not; its exit code is the short answer. */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Findings } from "../../../../src/cli/doctor/examine.ts";
import { page } from "../../../../src/cli/doctor/page.ts";
import { folder } from "../../../support/files.ts";
import { ANSI, creel } from "../../../support/creel.ts";
import type { Ended } from "../../../support/creel.ts";

const LAYERS = [
  "environment",
  "handles",
  "network",
  "files",
  "processes",
  "privileges",
  "permission",
  "hardening",
  "jitless",
  "memory",
  "memoryHard",
  "dumps",
];

/** A place of its own: others may serve where one does by default. */
const NOBODY = ["--socket", join(folder({}), "serve.sock")];

function config(sandbox: object): string {
  return join(folder({ "creel.json": JSON.stringify({ sandbox }) }), "creel.json");
}

function write(findings: Partial<Findings>): string {
  let text = "";
  const sound: Findings = {
    node: "v24",
    platform: "linux x64",
    flags: [],
    wanted: { walls: "auto", jitless: false, memoryMb: 1024, lanes: 1 },
    layers: [],
    required: ["network"],
    sandbox: { answers: true, startMs: 100 },
    checks: [],
    isSound: true,
  };
  page({ ...sound, ...findings }, { width: 80, line: (line = "") => void (text += `${line}\n`), paint: (_, words) => words });
  return text;
}

describe("creel doctor --json", () => {
  let ended: Ended;
  let findings: Findings;
  beforeAll(async () => {
    ended = await creel(["doctor", "--json", ...NOBODY]);
    findings = JSON.parse(ended.stdout) as Findings;
  });

  it("prints one JSON value on stdout and nothing on stderr", () => {
    expect(ended.stderr).toBe("");
    expect(findings.layers.map(({ name }) => name)).toEqual(LAYERS);
  });

  it("says of every layer by what it is on, or why it is off", () => {
    for (const { isOn, by, why } of findings.layers) expect(isOn ? by : why).toMatch(/\w/);
  });

  it("has heard a plugin answer from in there", () => {
    expect(findings.sandbox).toEqual({ answers: true, startMs: expect.any(Number) });
    expect(findings.flags).toContain("--disable-warning=ExperimentalWarning");
  });

  it("exits with 0 if what is required is on, and with 1 otherwise", () => {
    const isOn = (name: string) => findings.layers.find((layer) => layer.name === name)!.isOn;
    expect(findings.required.every(isOn)).toBe(findings.isSound);
    expect(ended.code).toBe(findings.isSound ? 0 : 1);
  });
});

describe("creel doctor --config", () => {
  it("with walls switched off, exits with 1 and says for each that it was switched off", async () => {
    const { code, stdout } = await creel(["doctor", "--json", "--config", config({ walls: "none" }), ...NOBODY]);
    expect(code).toBe(1);
    const { layers, sandbox } = JSON.parse(stdout) as Findings;
    expect(sandbox.answers).toBe(true);
    for (const name of ["network", "files", "processes", "privileges", "permission"])
      expect(layers.find((layer) => layer.name === name)).toMatchObject({ isOn: false, why: "the configuration turns it off" });
  });

  it("a key that there is not is broken: a misspelt one would leave a wall out; everything else is looked at all the same", async () => {
    const file = config({ wall: "required" });
    const { code, stdout } = await creel(["doctor", "--json", "--config", file, ...NOBODY]);
    expect(code).toBe(1);
    const { checks, sandbox } = JSON.parse(stdout) as Findings;
    expect(sandbox.answers).toBe(true);
    expect(checks.filter(({ status }) => status !== "ok")).toEqual([
      {
        area: "config",
        status: "broken",
        what: 'sandbox.wall: unknown key; did you mean "walls"?',
        where: `${file}:1`,
        fix: 'write "walls"',
      },
      {
        area: "state",
        status: "warn",
        what: "not checked: creel.json does not load",
        fix: "correct creel.json, then run creel doctor again",
      },
    ]);
    expect(checks.map(({ area }) => area)).toEqual(expect.arrayContaining(["node", "isolated-vm", "state", "socket", "clock"]));
  });
});

describe("creel doctor, into a pipe", () => {
  it("has a line for every layer, no colours, no trailing spaces, and keeps to the width of a page", async () => {
    const { stdout, stderr } = await creel(["doctor", ...NOBODY]);
    expect(stderr).toBe("");
    for (const name of LAYERS) expect(stdout).toMatch(new RegExp(`^  [✓✗–] ${name} `, "m"));
    expect(stdout).not.toContain(ANSI);
    for (const line of stdout.split("\n")) {
      expect(line).toBe(line.trimEnd());
      expect(line.length).toBeLessThanOrEqual(100);
    }
  });
});

describe("the doctor's page", () => {
  it("marks what is missing of what matters, with the reason and the remedy", () => {
    const layers = [{ name: "network", what: "no network", isOn: false, why: "no tool", fix: "install it" }] as const;
    const text = write({ layers, isSound: false });
    expect(text).toMatch(/✗ network +no network\n +off: no tool\n +→ install it\n/);
    expect(text).toContain("required walls are missing: network");
  });

  it("marks what is broken, and says where and what to do", () => {
    const checks = [{ area: "lock", status: "broken", what: "it was changed", where: "/x/creel.lock", fix: "restore it" }] as const;
    expect(write({ checks, isSound: false })).toMatch(/✗ lock +it was changed\n +at \/x\/creel.lock\n +→ restore it\n/);
  });

  it("says why no plugin answers", () => {
    expect(write({ sandbox: { answers: false, error: "it died" }, isSound: false })).toContain(
      "FAIL: no plugin answers from inside the sandbox: it died",
    );
  });
});

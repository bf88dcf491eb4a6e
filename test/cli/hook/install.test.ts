/** `creel hook install` and `uninstall` on real files: nothing without a yes, everything else byte for byte, and a denial even if Creel itself is gone. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { changeSettings } from "../../../src/cli/hook/change-settings.ts";
import type { ChangeOptions, HookAction } from "../../../src/cli/hook/change-settings.ts";
import { edited } from "../../../src/cli/hook/edit-settings.ts";
import { AGENTS, agentOf } from "../../../src/serve/agents/agents.ts";
import { CACHE } from "../../support/creel.ts";
import { folder } from "../../support/files.ts";
import { CTRL_C, CTRL_D, hasPty, onTerminal } from "../../support/pty.ts";
import type { Screen } from "../../support/pty.ts";
import { RECORDED } from "./recorded.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

async function change(action: HookAction, agent: string, home: string, more: Partial<ChangeOptions> = {}) {
  const shown: string[] = [];
  const terminal = { width: 100, line: (text = "") => void shown.push(text), paint: (_: unknown, text: string) => text };
  const code = await changeSettings(action, agentOf(agent)!, {
    isProject: false,
    file: undefined,
    socket: undefined,
    isYes: true,
    isDryRun: false,
    isJson: false,
    out: terminal,
    err: terminal,
    start: ["/opt/node", "/opt/creel/main.js"],
    place: { home, project: home, env: {} },
    ...more,
  });
  return { code, text: shown.join("\n") };
}

const SETTINGS = ".claude/settings.json";
const FILES: [string, string][] = [
  ["with two blanks", `{\n  "model": "opus",\n  "permissions": { "deny": ["Read(.env)"] }\n}\n`],
  ["with tabs and no end of line", `{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{ "hooks": [] }\n\t\t]\n\t}\n}`],
  ["of Windows", `{\r\n    "model": "opus"\r\n}\r\n`],
  [
    "with comments and trailing commas",
    `{\n  // mine\n  "hooks": {\n    "PreToolUse": [\n      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./x.sh" }] }, // last\n    ],\n  },\n}\n`,
  ],
  ["on one line", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"./x.sh"}]}]},"model":"opus"}`],
];

const atTerminal = (home: string, verb: string): Screen =>
  onTerminal([process.execPath, "-C", "source", join(root, "src/cli/main.ts"), "hook", verb, "--for", "gemini-cli"], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, NODE_COMPILE_CACHE: CACHE, NO_COLOR: "1" },
  });

describe("a shared file", () => {
  it.each(FILES)("%s keeps every other byte, and has them all again after uninstall", async (_, before) => {
    const home = folder({ [SETTINGS]: before });
    const file = join(home, SETTINGS);
    expect((await change("install", "claude-code", home)).code).toBe(0);
    const after = readFileSync(file, "utf8");
    // Only additions: without them, the text is what it was.
    let at = 0;
    for (const char of after) if (char === before[at]) at += 1;
    expect(at).toBe(before.length);
    for (const event of Object.keys(agentOf("claude-code")!.events))
      expect(after).toContain(` hook --for claude-code --event ${event} || `);
    expect((await change("install", "claude-code", home)).text).toBe("It is installed already.");
    await change("install", "claude-code", home, { socket: "/run/other.sock" });
    expect(readFileSync(file, "utf8").match(/--event PreToolUse /g)).toHaveLength(1);
    expect((await change("uninstall", "claude-code", home)).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  it("that Creel made goes again; a hook that somebody put beside Creel's stays", async () => {
    const home = folder({});
    await change("install", "codex", home);
    const file = join(home, ".codex/hooks.json");
    const made = JSON.parse(readFileSync(file, "utf8")) as { hooks: { PreToolUse: { hooks: object[] }[] } };
    await change("uninstall", "codex", home);
    expect(existsSync(join(home, ".codex"))).toBe(false);
    made.hooks.PreToolUse[0]!.hooks.push({ type: "command", command: "./mine.sh" });
    const text = JSON.stringify(made, undefined, 2);
    const without = edited(
      text,
      new Map(Object.keys(made.hooks).map((event) => [event, { entry: undefined, mark: ` hook --for codex --event ${event}` }])),
    );
    expect(JSON.parse(without)).toEqual({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "./mine.sh" }] }] } });
  });

  it("keeps its mode and the link to it; one that is not JSON is left alone", async () => {
    const home = folder({ "dotfiles/settings.json": "{}\n", ".claude/keep": "", "bad/.claude/settings.json": `{ "hooks": [` });
    chmodSync(join(home, "dotfiles/settings.json"), 0o600);
    symlinkSync(join(home, "dotfiles/settings.json"), join(home, SETTINGS));
    await change("install", "claude-code", home);
    expect(lstatSync(join(home, SETTINGS)).isSymbolicLink()).toBe(true);
    expect(statSync(join(home, SETTINGS)).mode & 0o777).toBe(0o600);
    await expect(change("install", "claude-code", join(home, "bad"))).rejects.toMatchObject({ code: "ERR_HOOK_SETTINGS" });
    expect(readFileSync(join(home, "bad", SETTINGS), "utf8")).toBe(`{ "hooks": [`);
  });
});

describe("consent", () => {
  it("without a terminal, and with --dry-run, shows the diff and writes nothing", async () => {
    const home = folder({ [SETTINGS]: `{\n  "model": "opus"\n}\n` });
    for (const [more, code] of [
      [{ isYes: false, isJson: true }, 1],
      [{ isDryRun: true }, 0],
    ] as const) {
      const said = await change("install", "claude-code", home, more);
      expect(said.code).toBe(code);
      expect(said.text).toContain(`+   "hooks": {`);
      expect(readFileSync(join(home, SETTINGS), "utf8")).toBe(`{\n  "model": "opus"\n}\n`);
    }
  });

  it.runIf(hasPty).each<[string, (screen: Screen) => void, number]>([
    ["Ctrl-C", ({ type }) => type(CTRL_C), 130],
    ["Ctrl-D", ({ type }) => type(CTRL_D), 130],
    ["a closed terminal", ({ hangUp }) => hangUp(), 130],
    ["return", ({ type }) => type("\r"), 1],
    ["yes", ({ type }) => type("yes\r"), 0],
  ])("%s at the question", async (_, answer, code) => {
    const home = folder({});
    const screen = atTerminal(home, "install");
    await screen.shows("Write this? [y/N] ");
    answer(screen);
    expect(await screen.ended).toBe(code);
    expect(existsSync(join(home, ".gemini/settings.json"))).toBe(code === 0);
  });

  it.runIf(hasPty)("who leaves the question of a removal has removed nothing", async () => {
    const home = folder({});
    await change("install", "gemini-cli", home);
    const settings = readFileSync(join(home, ".gemini/settings.json"), "utf8");
    const screen = atTerminal(home, "uninstall");
    await screen.shows("Remove this? [y/N] ");
    screen.type(CTRL_C);
    expect([await screen.ended, readFileSync(join(home, ".gemini/settings.json"), "utf8")]).toEqual([130, settings]);
  });
});

it.each(AGENTS.map(({ name }) => name))("%s: the command that is installed denies even if Node or Creel is gone", async (agent) => {
  const home = folder({});
  expect((await change("install", agent, home, { isProject: true })).code).toBe(0);
  const { tool, deny, told } = RECORDED[agent]!;
  const files = execFileSync("grep", ["-rl", "--", "--event", home], { encoding: "utf8" }).trim().split("\n");
  const commands = files.flatMap((file) => commandsIn(readFileSync(file, "utf8")));
  const run = (event: string): string =>
    execFileSync("sh", ["-c", commands.find((command) => command.includes(` --event ${event} `))!], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  expect(JSON.parse(run(tool.event))).toEqual(deny(expect.stringContaining(`creel hook uninstall --for ${agent}`)));
  expect(run(told[0]!.event)).toBe("");
  await change("uninstall", agent, home, { isProject: true });
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});

it("every agent has a place of the user's, which its own variable moves", async () => {
  const home = folder({});
  for (const { name } of AGENTS) expect([name, (await change("install", name, home)).code]).toEqual([name, 0]);
  expect(existsSync(join(home, ".copilot/hooks/creel.json"))).toBe(true);
  const env = { COPILOT_HOME: join(home, "moved"), CODEX_HOME: join(home, "moved"), CLAUDE_CONFIG_DIR: join(home, "moved") };
  for (const name of ["copilot-cli", "codex", "claude-code"]) await change("install", name, home, { place: { home, project: home, env } });
  for (const file of ["hooks/creel.json", "hooks.json", "settings.json"]) expect(existsSync(join(home, "moved", file))).toBe(true);
});

it("a file of somebody else where Creel's would be is not touched", async () => {
  const home = folder({});
  await change("install", "cline", home);
  const file = join(home, "Documents/Cline/Hooks/PreToolUse");
  expect(statSync(file).mode & 0o111).not.toBe(0);
  writeFileSync(file, "#!/bin/sh\necho mine\n");
  await expect(change("install", "cline", home)).rejects.toMatchObject({ code: "ERR_HOOK_SETTINGS" });
  await change("uninstall", "cline", home);
  expect(readFileSync(file, "utf8")).toBe("#!/bin/sh\necho mine\n");
});

/** Every string in JSON, or the script's second line. */
function commandsIn(text: string): string[] {
  if (text.startsWith("#!")) return [text.split("\n")[1]!];
  const found: string[] = [];
  JSON.parse(text, (_, value: unknown) => (typeof value === "string" && found.push(value), value));
  return found;
}

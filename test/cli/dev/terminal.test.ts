/** `creel dev` at a terminal: its keys, and what a save changes. */
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folder } from "../../support/files.ts";
import { CdpClient } from "../../support/cdp-client.ts";
import { CTRL_C, hasPty, onTerminal } from "../../support/pty.ts";
import type { Screen } from "../../support/pty.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const source = (reason: string, more = ""): string => `export default (api) => {
  api.on("before_tool_call", (event) => {
    const command = String(event.params.command);
    if (command === "burn") burn();
    if (command.startsWith("rm")) return { block: true, blockReason: "${reason}" };
    api.logger.info("saw " + command);
  });
  ${more}
};
function burn(): void {
  for (let at = 0; ; at++) Math.sqrt(at);
}
`;
const THROWING = `export default (api) => {
  api.on("before_tool_call", () => {
    const missing: any = undefined;
    return missing.field;
  });
};
`;
/** The same answer. On a busy machine it may have cost something else. */
const SAME = /same answer as before|cpu +- /;
/** An editor that replaces one word by another, as a person would. */
const EDITOR = `#!/bin/sh\nsed -i "s/$(cat "$(dirname "$0")/from")/$(cat "$(dirname "$0")/to")/" "$1"\n`;

describe.runIf(hasPty)("creel dev at a terminal", { timeout: 90_000 }, () => {
  const where = folder({ "index.ts": source("never"), "creel.plugin.json": `{ "id": "gate", "main": "index.ts" }` });
  const tools = folder({ "edit.sh": EDITOR });
  let screen: Screen;
  beforeAll(() => {
    chmodSync(join(tools, "edit.sh"), 0o755);
    const event = `{"toolName":"exec","params":{"command":"ls"}}`;
    const command = [process.execPath, "-C", "source", join(root, "src/cli/main.ts"), "dev", where, "--hook", "before_tool_call"];
    screen = onTerminal([...command, "--event", event, "--isolation", "thread"], {
      cwd: root,
      env: { PATH: process.env.PATH!, EDITOR: join(tools, "edit.sh"), NO_COLOR: "1", LANG: "C.UTF-8" },
    });
  });
  afterAll(() => screen.hangUp());

  /** The next time that `e` is pressed. */
  const editing = (from: string, to: string): void => {
    writeFileSync(join(tools, "from"), from);
    writeFileSync(join(tools, "to"), to);
  };
  const save = (text: string): void => writeFileSync(join(where, "index.ts"), text);

  it("runs the event, lists its keys, saves the event as a fixture and runs it again", async () => {
    await screen.shows("saw ls");
    await screen.shows("before_tool_call  pass");
    await screen.shows("press ? for keys");
    screen.type("?");
    await screen.shows("choose a hook of that list");
    screen.type("s");
    await screen.shows("saved as fixtures/before_tool_call-1.json");
    expect(existsSync(join(where, "fixtures/before_tool_call-1.json"))).toBe(true);
    screen.type("r");
    await expect(screen.shows(SAME)).resolves.toBeUndefined();
  });

  it("runs the event as it was edited, and after a save shows what is different in the answer", async () => {
    editing("ls", "rm -rf");
    screen.type("e");
    await screen.shows("before_tool_call  block by gate");
    await screen.shows("reason    never");
    save(source("not here"));
    await screen.shows("reason    not here");
    await screen.shows("reason   - never");
    await expect(screen.shows("+ not here")).resolves.toBeUndefined();
  });

  it("takes the next fixture, and the smallest event of a hook by its number", async () => {
    screen.type("n");
    await screen.shows("fixtures/before_tool_call-1.json");
    await screen.shows("before_tool_call  pass");
    screen.type("h");
    await screen.shows("1  before_tool_call");
    screen.type("1");
    await screen.shows("with the smallest event that it takes");
    await screen.shows("before_tool_call  pass");
    screen.type("d");
    await expect(screen.shows("start again with --inspect")).resolves.toBeUndefined();
  });

  it("says an event that does not fit the hook, and goes on", async () => {
    editing("toolName", "toolNam");
    screen.type("e");
    await screen.shows("toolName");
    screen.type("r");
    await expect(screen.shows(SAME)).resolves.toBeUndefined();
  });

  it("shows the lines where the CPU time went when it is asked to, and when a call runs out of it", async () => {
    screen.type("n");
    await screen.shows("before_tool_call  pass");
    screen.type("p");
    await screen.shows("Where the CPU time went");
    editing("ls", "burn");
    screen.type("e");
    await screen.shows("✗ gate");
    await screen.shows("Fix:");
    await screen.shows("Where the CPU time went");
    await screen.shows("index.ts:11");
    await expect(screen.shows("for (let at = 0; ; at++)")).resolves.toBeUndefined();
  });

  it("shows a failure with its frame and its fix, and what check finds, beside the outcome", async () => {
    save(THROWING);
    await screen.shows("Cannot read properties of undefined");
    await screen.shows("▶ 4 │     return missing.field;");
    await screen.shows("Fix:");
    save(source("never", `void fetch("https://api.example.com/").catch(() => {});`));
    await expect(screen.shows("fetch:https://api.example.com")).resolves.toBeUndefined();
  });

  it("ends with q", async () => {
    screen.type("q");
    expect(await screen.ended).toBe(0);
  });
});

describe.runIf(hasPty)("creel dev --inspect at a terminal", { timeout: 90_000 }, () => {
  const paused = `export default (api) => {
  api.on("before_tool_call", () => {
    debugger;
    return { block: true, blockReason: "never" };
  });
};
`;
  it.each([
    ["q", "q", "process"],
    ["Ctrl-C", CTRL_C, "thread"],
  ])("ends with %s while the plugin is paused at a breakpoint", async (_, key, isolation) => {
    const where = folder({ "index.ts": paused, "creel.plugin.json": `{ "id": "gate", "main": "index.ts" }` });
    const command = [process.execPath, "-C", "source", join(root, "src/cli/main.ts"), "dev", where, "--isolation", isolation];
    const event = `{"toolName":"exec","params":{}}`;
    const screen = onTerminal([...command, "--inspect=0", "--hook", "before_tool_call", "--event", event], {
      cwd: root,
      // A browser that does not start.
      env: { PATH: process.env.PATH!, CHROME_PATH: "/bin/false", NO_COLOR: "1", LANG: "C.UTF-8" },
    });
    await screen.shows("press ? for keys");
    screen.type("d");
    await screen.shows("DevTools: devtools://devtools/bundled/js_app.html");
    await screen.shows("no Chrome or Chromium started here");
    const port = /node inspect 127\.0\.0\.1:(\d+)/.exec(screen.text())![1]!;
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
    const client = await CdpClient.connect(target!.webSocketDebuggerUrl);
    await client.send("Debugger.enable");
    screen.type("r");
    await client.next("Debugger.paused");
    const before = screen.text();
    screen.type(key);
    expect(await screen.ended).toBe(0);
    await client.closed;
    // No answer of a run that was left.
    expect(screen.text().slice(before.length)).not.toContain("before_tool_call");
  });
});

/** Consent on a real pseudo-terminal: leaving a question does nothing and ends with 130, and only the word yes is a yes. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openState } from "../../src/state/state.ts";
import { folder, QUICK } from "../support/files.ts";
import { CTRL_C, CTRL_D, hasPty, onTerminal } from "../support/pty.ts";
import type { Screen } from "../support/pty.ts";
import { listener, operator, pluginFolder } from "../install/pipeline.ts";
import { CACHE } from "../support/creel.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const ASKS = { fetch: [{ origin: "https://api.example.com", reason: "to look up the weather" }], kv: { reason: "remembers towns" } };
const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_COMPILE_CACHE: CACHE, NO_COLOR: "1" };

function creelAt(home: string, ...args: string[]): Screen {
  return onTerminal([process.execPath, "-C", "source", join(root, "src/cli/main.ts"), ...args], { cwd: home, env });
}

const home = (): string => folder({ "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none" } }` }, QUICK);
const installedIn = async (project: string) => [...(await openState(join(project, "state")).read()).keys()];
const weather = (): string => pluginFolder({ id: "weather", permissions: ASKS }, listener("heartbeat_prompt_contribution"));

/** Ways out. */
const WAYS: [string, (screen: Screen) => void][] = [
  ["Ctrl-C", ({ type }) => type(CTRL_C)],
  ["Ctrl-D", ({ type }) => type(CTRL_D)],
  ["a closed terminal", ({ hangUp }) => hangUp()],
];
/** Before each question of an installation: what is shown, and what to type to get to the next. */
const QUESTIONS: [string, string][] = [
  ["Install it? [y]es, [N]o, [c]hoose permissions: ", "c\r"],
  ["prompt: change prompts: what models are told [Y/n] ", "\r"],
  ["fetch:https://api.example.com: send any requests to https://api.example.com [Y/n] ", "y\r"],
  ["kv: keep its own data across restarts [Y/n] ", "\r"],
  ["Install it with these? [y/N] ", "y\r"],
];

describe.runIf(hasPty)("a person who leaves an installation", () => {
  const path = weather();
  // Ctrl-C at each of them; the other ways at one of each kind: a question about all, a choice, the last word.
  const KINDS = QUESTIONS.map((_, at) => at + 1).filter((at) => at % 2 === 1);
  const CASES = WAYS.flatMap(([name, leave]) =>
    (name === "Ctrl-C" ? QUESTIONS.map((_, at) => at + 1) : KINDS).map((at) => [name, at, leave] as const),
  );
  it.each(CASES)("by %s at question %d installs nothing, grants nothing, and the exit code is 130", async (name, at, leave) => {
    const project = home();
    const screen = creelAt(project, "install", path);
    for (const [question, answer] of QUESTIONS.slice(0, at - 1)) {
      await screen.shows(question);
      screen.type(answer);
    }
    await screen.shows(QUESTIONS[at - 1]![0]);
    leave(screen);
    expect(await screen.ended).toBe(130);
    // On a terminal that is gone there is nothing to be read.
    expect(name === "a closed terminal" || screen.text().trimEnd().endsWith("\nNothing was installed.")).toBe(true);
    expect(await installedIn(project)).toEqual([]);
  });

  it("and has typed yes before the question was there has not answered it", async () => {
    const project = home();
    const screen = creelAt(project, "install", path);
    await screen.shows("→ unpack");
    screen.type("y\r");
    await screen.shows("[c]hoose permissions: ");
    screen.type(CTRL_C);
    expect([await screen.ended, await installedIn(project)]).toEqual([130, []]);
  });

  it("in a folder without a creel.json leaves none behind", async () => {
    const project = folder({}, QUICK);
    const screen = creelAt(project, "install", path);
    await screen.shows("[y]es, [N]o");
    screen.type(CTRL_C);
    expect([await screen.ended, existsSync(join(project, "creel.json"))]).toEqual([130, false]);
  });
});

describe.runIf(hasPty)("a person who answers", () => {
  it("with yes installs what is shown; Return at a choice is the default that is shown", async () => {
    const project = home();
    const screen = creelAt(project, "install", weather());
    for (const [question, answer] of [
      [QUESTIONS[0]![0], "c\r"],
      ["prompt: change prompts: what models are told [Y/n] ", "n\r"],
      ["[Y/n] ", "\r"],
      ["kv: keep its own data across restarts [Y/n] ", "no\r"],
      ["Install it with these? [y/N] ", "yes\r"],
    ] as const) {
      await screen.shows(question);
      screen.type(answer);
    }
    expect(await screen.ended).toBe(0);
    const entry = (await openState(join(project, "state")).read()).get("weather")!;
    expect([entry.grants, entry.permissions.allowPromptInjection]).toEqual([{ fetch: [{ origin: "https://api.example.com" }] }, false]);
  });

  it.each([
    ["Return", "\r"],
    ["no", "n\r"],
    ["a word that only begins like yes", "yeah\r"],
  ])("with %s installs nothing, and the exit code is 1", async (_, keys) => {
    const project = home();
    const screen = creelAt(project, "install", weather());
    await screen.shows("[y]es, [N]o");
    screen.type(keys);
    expect([await screen.ended, await installedIn(project)]).toEqual([1, []]);
  });

  it("a say in later installs is asked for in plain words, and Return does not grant it", async () => {
    const project = home();
    const screen = creelAt(project, "install", pluginFolder({ id: "guard" }, listener("before_install")));
    await screen.shows("It will get no permissions.");
    await screen.shows("[c]hoose permissions: ");
    screen.type("c\r");
    await screen.shows("install: refuse every later installation, even by failing [y/N] ");
    screen.type("\r");
    await screen.shows("Install it with these? [y/N] ");
    screen.type("y\r");
    expect(await screen.ended).toBe(0);
    expect((await openState(join(project, "state")).read()).get("guard")!.permissions.allowInstallDecisions).toBe(false);
  });
});

describe.runIf(hasPty)("an installation that would allow unencrypted traffic", () => {
  const PLAIN = {
    fetch: [{ origin: "http://api.example.com", reason: "old" }],
    connect: [{ target: "db.example.com:5432", reason: "rows" }],
  };
  const path = pluginFolder({ id: "plain", permissions: PLAIN }, `export default () => {};`);

  it.each<[string, (screen: Screen) => void, number, string[]]>([
    ...WAYS.map(([name, leave]): [string, (screen: Screen) => void, number, string[]] => [name, leave, 130, []]),
    ["Return", ({ type }) => type("\r"), 1, []],
    ["yes", ({ type }) => type("y\r"), 0, ["plain"]],
  ])("asks for a second yes for each such grant; the answer to the last is %s", async (_, answer, code, installed) => {
    const project = home();
    const screen = creelAt(project, "install", path);
    await screen.shows("[c]hoose permissions: ");
    screen.type("y\r");
    await screen.shows("connect:db.example.com:5432: it allows unencrypted connections");
    await screen.shows("Grant it anyway? [y/N] ");
    screen.type("y\r");
    await screen.shows("fetch:http://api.example.com: it allows unencrypted connections");
    await screen.shows("Grant it anyway? [y/N] ");
    answer(screen);
    expect([await screen.ended, await installedIn(project)]).toEqual([code, installed]);
  });
});

async function granted(keys: string[], answers: readonly (readonly [string, string | ((screen: Screen) => void)])[], path = weather()) {
  const project = home();
  await operator(join(project, "state")).install(path, []);
  const screen = creelAt(project, "permissions", "grant", "weather", ...keys);
  for (const [question, answer] of answers) {
    await screen.shows(question);
    if (typeof answer === "string") screen.type(answer);
    else answer(screen);
  }
  const code = await screen.ended;
  const { grants } = (await openState(join(project, "state")).read()).get("weather")!;
  return { code, grants, shown: screen.text() };
}

describe.runIf(hasPty)("a grant at a terminal", () => {
  const SCANNED = pluginFolder({ id: "weather" }, `export default (api) => { api.on("agent_end", () => api.kv.get("town")); };`);
  const SECOND = "Grant it anyway? [y/N] ";

  it("that was asked for needs no second yes", async () => {
    expect(await granted(["kv"], [])).toMatchObject({ code: 0, grants: { kv: true } });
  });

  it("that was never asked for needs a second yes, and says what may have been meant", async () => {
    const wrong = "fetch:http://api.exmple.com";
    const { code, grants, shown } = await granted([wrong], [[SECOND, "\r"]]);
    expect([code, grants]).toEqual([1, {}]);
    expect(shown).toContain(
      'the plugin never requested it; did you mean "fetch:https://api.example.com"?; it allows unencrypted connections',
    );
    expect(await granted([wrong], [[SECOND, "y\r"]])).toMatchObject({ code: 0, grants: { fetch: [{ origin: "http://api.exmple.com" }] } });
  });

  it("that only the scan of its code found was never asked for, and needs a second yes, too", async () => {
    const { code, grants, shown } = await granted(["kv"], [[SECOND, "\r"]], SCANNED);
    expect([code, grants]).toEqual([1, {}]);
    expect(shown).toContain("kv: the plugin never requested it");
    expect(await granted(["kv"], [[SECOND, "y\r"]], SCANNED)).toMatchObject({ code: 0, grants: { kv: true } });
  });

  it.each(WAYS)("that is left by %s changes nothing, and the exit code is 130", async (name, leave) => {
    const { code, grants, shown } = await granted(["env:TOKEN"], [[SECOND, leave]]);
    expect([code, grants]).toEqual([130, {}]);
    expect(name === "a closed terminal" || shown.includes("Nothing was granted.")).toBe(true);
  });
});

/** The fleet's server, which nobody may ask for anything. */
const fleetHome = async (): Promise<{ project: string; asked: () => number; server: Server }> => {
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const servers = [`nats://127.0.0.1:${(server.address() as AddressInfo).port}`];
  const fleet = { name: "ann", servers, credentials: "ann.nk", operators: [`ed25519-${"A".repeat(43)}=`], signingKey: "ann.pem" };
  const project = folder({ "creel.json": JSON.stringify({ stateDir: "state", sandbox: { walls: "none" }, fleet }) }, QUICK);
  return { project, asked: () => asked, server };
};

describe.runIf(hasPty)("an operator of a fleet who leaves a question", () => {
  it.each(WAYS)("of creel --fleet install by %s installs nothing, asks no host, and the exit code is 130", async (name, leave) => {
    const { project, asked, server } = await fleetHome();
    const screen = creelAt(project, "--fleet", "install", weather());
    await screen.shows(QUESTIONS[0]![0]);
    leave(screen);
    expect([await screen.ended, asked(), await installedIn(project)]).toEqual([130, 0, []]);
    expect(name === "a closed terminal" || screen.text().trimEnd().endsWith("\nNothing was installed.")).toBe(true);
    server.close();
  });

  it("of creel --fleet permissions by Ctrl-C grants nothing, here or on a host, and the exit code is 130", async () => {
    const { project, asked, server } = await fleetHome();
    await operator(join(project, "state")).install(weather(), []);
    const screen = creelAt(project, "--fleet", "permissions", "grant", "weather", "env:TOKEN");
    await screen.shows("Grant it anyway? [y/N] ");
    screen.type(CTRL_C);
    expect([await screen.ended, asked()]).toEqual([130, 0]);
    expect((await openState(join(project, "state")).read()).get("weather")!.grants).toEqual({});
    server.close();
  });
});

it.runIf(process.env.CI)("where CI is set there is a pseudo-terminal, so that none of this is left out", () => expect(hasPty).toBe(true));

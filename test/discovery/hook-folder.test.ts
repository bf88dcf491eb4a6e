/**
 * HOOK.md folders as sandboxed plugins: what their front matter may say, when they are loaded, and what their handlers
 * get.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PluginReport } from "creel";
import { bundleFile } from "../../src/bundler/bundle.ts";
import { readHookFolder } from "../../src/discovery/hook-folder.ts";
import { unmet } from "../../src/discovery/hook-requirements.ts";
import { findPlugin } from "../../src/discovery/manifest.ts";
import { folder, write } from "../support/files.ts";
import { contract, next, open, recorder, sharedHost } from "../support/host.ts";

const SAY = `export default async (event) => console.log(event.type + ":" + event.action);`;
const hook = (frontMatter: string, more: Record<string, string> = {}) => ({
  "HOOK.md": `---\n${frontMatter}\n---\n\n# A hook\n`,
  "handler.js": SAY,
  ...more,
});
const meta = (openclaw: object) => `metadata: ${JSON.stringify({ openclaw })}`;
const EVENTS = meta({ events: ["session:end"] });
const ended = (more: object = {}) =>
  ({
    type: "session",
    action: "end",
    sessionKey: "k",
    sessionId: "s1",
    timestamp: new Date(0),
    context: { stopReason: "stop" },
    ...more,
  }) as const;

const read = (frontMatter: string, more?: Record<string, string>) => readHookFolder(folder(hook(frontMatter, more)));
const refusal = (text: string) =>
  readHookFolder(folder({ "HOOK.md": text, "handler.js": SAY })).then(
    () => expect.unreachable("it was read"),
    (error: Error) => error.message,
  );
/** Which of the existing files is the handler. */
const entryWith = async (...names: string[]) => {
  const root = folder({ "HOOK.md": `---\n${EVENTS}\n---\n`, ...Object.fromEntries(names.map((name) => [name, SAY])) });
  return (await readHookFolder(root)).entry.slice(root.length + 1);
};

describe("front matter", () => {
  it("OpenClaw's own form, JSON with trailing commas inside YAML, is understood", async () => {
    const text = `name: session-memory
description: "Save session context"
metadata:
  {
    "openclaw":
      {
        "emoji": "💾",
        "events": ["command:new", "command:reset",],
        "export": "save",
        "hookKey": "memory",
        "os": ["darwin", "linux"],
        "requires": { "config": ["workspace.dir"], "env": "A, B" },
        "install": [{ "id": "bundled", "kind": "bundled" }],
      },
  }`;
    expect(await read(text)).toMatchObject({
      key: "memory",
      name: "session-memory",
      description: "Save session context",
      events: ["command:new", "command:reset"],
      exported: "save",
      os: ["darwin", "linux"],
      always: false,
      requires: { bins: [], anyBins: [], env: ["A", "B"], config: ["workspace.dir"] },
    });
  });

  it("block YAML, a top-level list of events and a text with commas are understood, too", async () => {
    expect(await read("metadata:\n  openclaw:\n    events:\n      - session:end\n      - tool")).toMatchObject({
      events: ["session:end", "tool"],
    });
    expect(await read("events: [session:patch, session:patch]")).toMatchObject({ events: ["session:patch"], exported: "default" });
    expect(await read("events: tool:start, tool:result")).toMatchObject({ events: ["tool:start", "tool:result"] });
    expect(await read(`metadata: {"clawdbot": {"events": ["tool"]}}`)).toMatchObject({ events: ["tool"] });
  });

  it("without a name the folder's is taken, and without a hookKey the name", async () => {
    const root = folder({ "my-hook/HOOK.md": `---\n${EVENTS}\n---\n`, "my-hook/handler.js": SAY });
    expect(await readHookFolder(join(root, "my-hook"))).toMatchObject({ name: "my-hook", key: "my-hook" });
    expect(await read(`name: given\n${EVENTS}`)).toMatchObject({ name: "given", key: "given" });
  });

  it("a file from Windows, with a byte-order mark and carriage returns, is read", async () => {
    const root = folder({ "HOOK.md": `\uFEFF---\r\nevents: [tool]\r\n---\r\nText`, "handler.js": SAY });
    expect(await readHookFolder(root)).toMatchObject({ events: ["tool"] });
  });

  it("the handler is the first of handler.ts, handler.js, index.ts, index.js", async () => {
    expect(await entryWith("index.js", "index.ts", "handler.js", "handler.ts")).toBe("handler.ts");
    expect(await entryWith("index.js", "index.ts", "handler.js")).toBe("handler.js");
    expect(await entryWith("index.js", "index.ts")).toBe("index.ts");
    expect(await entryWith("index.js")).toBe("index.js");
    await expect(entryWith("main.js")).rejects.toMatchObject({ code: "ERR_PLUGIN_ENTRY" });
  });

  it("must name at least one event", async () => {
    expect(await refusal("---\nname: x\n---\n")).toContain("it must name at least one event");
    expect(await refusal(`---\n${meta({ events: [] })}\n---\n`)).toContain("it must name at least one event");
  });

  it.each([
    ["has no front matter", "# Just text\n", "two lines of"],
    ["has front matter without an end", "---\nevents: [tool]\n", "two lines of"],
    ["has front matter that is too long", `---\nevents: [tool]\nx: ${"y".repeat(20_000)}\n---\n`, "at most 16384 bytes"],
    ["is not YAML", "---\nevents: [tool\n---\n", "Flow sequence"],
    ["is no dictionary", "---\n- tool\n---\n", "expected object"],
    ["is empty", "---\n\n---\n", "expected object"],
    ["has a key twice", "---\nevents: [a]\nevents: [b]\n---\n", "unique"],
    ["has events that are no texts", "---\nevents: [[1]]\n---\n", "events"],
  ])("a file that %s is refused, with the reason", async (_, text, reason) => {
    expect(await refusal(text)).toContain(reason);
  });

  it("aliases, with which a kilobyte unfolds to gigabytes, are refused", async () => {
    const bomb = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(", ")}]`).join("\n");
    expect(await refusal(`---\nl0: &l0 [x, x]\n${bomb}\nevents: *l9\n---\n`)).toContain("Alias");
  });

  it.each(["!!js/function 'x'", "!custom x"])("the tag in %j is refused", async (value) => {
    expect(await refusal(`---\nevents: [tool]\nname: ${value}\n---\n`)).toContain("Unresolved tag");
  });

  it("nesting that would overflow a stack is refused", async () => {
    expect(await refusal(`---\nevents: ${"[".repeat(7_000)}${"]".repeat(7_000)}\n---\n`)).toContain("not valid");
  });

  it("a prototype cannot be set", async () => {
    const found = await read(`__proto__: { polluted: true }\n${EVENTS}`);
    expect([Object.hasOwn(found, "polluted"), "polluted" in {}]).toEqual([false, false]);
  });
});

/** A folder of hooks, and what becomes of them under a configuration. */
async function loaded(
  isolation: "thread" | "process",
  hooks: Record<string, Record<string, string>>,
  internal: object,
  allowFailed = false,
): Promise<PluginReport[]> {
  const dir = folder({});
  for (const [name, files] of Object.entries(hooks)) write(join(dir, name), files);
  await using host = await open(isolation, { allowFailed, config: { hooks: { internal: { load: { extraDirs: [dir] }, ...internal } } } });
  return host.plugins();
}
const states = (reports: PluginReport[]) => reports.map(({ id, status }) => `${id} ${status}`);

describe("which hooks are loaded", () => {
  const TWO = { a: hook(EVENTS), b: hook(EVENTS) };

  it("every folder with a HOOK.md in an extra folder is, in the order of their names", async () => {
    const dirs = { ...TWO, ".git": { config: "" }, "no-hook": { "index.js": SAY } };
    expect(states(await loaded("thread", dirs, {}))).toEqual(["hook-a ready", "hook-b ready"]);
  });

  it("naming one under entries leaves out the others, which say so", async () => {
    const reports = await loaded("thread", TWO, { entries: { b: { enabled: true } } });
    expect(states(reports)).toEqual(["hook-a disabled", "hook-b ready"]);
    expect(reports[0]!.diagnostics).toEqual(['hooks.internal.entries names other hooks and not "a"']);
  });

  it("an entry that switches one off leaves the others on", async () => {
    const reports = await loaded("thread", TWO, { entries: { b: { enabled: false } } });
    expect(states(reports)).toEqual(["hook-a ready", "hook-b disabled"]);
    expect(reports[1]!.diagnostics).toEqual(["hooks.internal.entries.b.enabled is false"]);
  });

  it("enabled: true asks for all of them, as in OpenClaw, whatever the entries name", async () => {
    expect(states(await loaded("thread", TWO, { enabled: true, entries: { b: {} } }))).toEqual(["hook-a ready", "hook-b ready"]);
  });

  it("enabled: false loads none, not even one that was named by its path", async () => {
    expect(await loaded("thread", TWO, { enabled: false })).toEqual([]);
    await using host = await open("thread", {
      plugins: [{ path: folder(hook(`name: x\n${EVENTS}`)) }],
      config: { hooks: { internal: { enabled: false } } },
    });
    expect(host.inspect("hook-x")).toMatchObject({ status: "disabled", diagnostics: ["hooks.internal.enabled is false"] });
  });

  it("of two with one key the first is taken, and the operator is told", async () => {
    const dirs = [folder(hook(`name: same\n${EVENTS}`)), folder(hook(`name: same\n${EVENTS}`))];
    const { logger, lines } = recorder();
    await using host = await open("thread", { logger, config: { hooks: { internal: { load: { extraDirs: dirs } } } } });
    expect(states(host.plugins())).toEqual(["hook-same ready"]);
    expect(lines).toContainEqual(expect.objectContaining({ level: "warn", fields: { plugin: "hook-same", path: dirs[1] } }));
  });

  it("a missing extra folder does not keep the host from opening", async () => {
    const { logger, lines } = recorder();
    await using host = await open("thread", { logger, config: { hooks: { internal: { load: { extraDirs: ["/no/such/folder"] } } } } });
    expect(host.plugins()).toEqual([]);
    expect(lines[0]).toMatchObject({ level: "warn", fields: { path: "/no/such/folder" } });
  });

  it("a broken one is shown as failed, with the reason, and the others load", async () => {
    const broken = { a: hook("name: a"), b: hook(EVENTS), c: { "HOOK.md": `---\n${EVENTS}\n---\n` } };
    await expect(loaded("thread", broken, {})).rejects.toMatchObject({ code: "ERR_PLUGINS_FAILED", params: { ids: "hook-a, hook-c" } });
    const reports = await loaded("thread", broken, {}, true);
    expect(states(reports)).toEqual(["hook-a failed", "hook-b ready", "hook-c failed"]);
    expect(reports[0]!.error).toMatchObject({ code: "ERR_PLUGIN_MANIFEST", message: expect.stringContaining("at least one event") });
    expect(reports[2]!.error).toMatchObject({ code: "ERR_PLUGIN_ENTRY" });
  });

  it("a name that cannot be part of an id is made one", async () => {
    expect(states(await loaded("thread", { x: hook(`name: "💾 Säve it!"\n${EVENTS}`) }, {}))).toEqual(["hook-S-ve-it ready"]);
  });

  it("paths of a configuration file are relative to it", async () => {
    const root = folder({
      "creel.json": JSON.stringify({ hooks: { internal: { load: { extraDirs: ["./hooks"] } } }, plugins: { load: { paths: ["p.js"] } } }),
      "p.js": "export default () => {};",
    });
    write(join(root, "hooks/a"), hook(EVENTS));
    await using host = await open("thread", { config: join(root, "creel.json") });
    expect(states(host.plugins())).toEqual(["hook-a ready", "p ready"]);
  });

  it("one whose conditions are not met stays visible, and says what to do", async () => {
    const x = hook(meta({ events: ["tool"], requires: { env: ["TOKEN"] } }));
    expect((await loaded("thread", { x }, {}))[0]).toMatchObject({
      status: "disabled",
      diagnostics: ["the hook requires TOKEN: set hooks.internal.entries.x.env.TOKEN"],
    });
    expect(states(await loaded("thread", { x }, { entries: { x: { env: { TOKEN: "t" } } } }))).toEqual(["hook-x ready"]);
  });
});

describe("the conditions of a hook", () => {
  const HERE = { platform: "linux", env: {}, config: {} };

  it.each<[string, { requires?: object; os?: string[]; always?: boolean }, object, string | undefined]>([
    ["is for another system", { os: ["darwin", "win32"] }, {}, "the hook is for darwin, win32, but this is linux"],
    ["is for another system, and is to be loaded always", { os: ["win32"], always: true }, {}, "the hook is for win32, but this is linux"],
    ["is for this system", { os: ["linux"] }, {}, undefined],
    ["needs programs", { requires: { bins: ["git", "node"] } }, {}, "the hook requires git, but a sandboxed hook cannot run programs"],
    [
      "needs one of several programs",
      { requires: { anyBins: ["jq"] } },
      {},
      "the hook requires jq, but a sandboxed hook cannot run programs",
    ],
    ["needs nothing but node", { requires: { bins: ["node"] } }, {}, undefined],
    ["needs programs, and is to be loaded always", { requires: { bins: ["git"] }, always: true }, {}, undefined],
    ["needs a variable that it is given", { requires: { env: ["TOKEN"] } }, { env: { TOKEN: "t" } }, undefined],
    [
      "needs a variable that is given empty",
      { requires: { env: ["A"] } },
      { env: { A: "" } },
      "the hook requires A: set hooks.internal.entries.x.env.A",
    ],
    [
      "needs one that only the gateway has",
      { requires: { env: ["PATH"] } },
      {},
      "the hook requires PATH: set hooks.internal.entries.x.env.PATH",
    ],
    [
      "needs a setting that is not there",
      { requires: { config: ["a.b"] } },
      { config: { a: 1 } },
      'the hook requires the configuration "a.b", which is not set',
    ],
    [
      "needs a setting that is blank",
      { requires: { config: ["a"] } },
      { config: { a: " " } },
      'the hook requires the configuration "a", which is not set',
    ],
    [
      "needs a setting that every object inherits",
      { requires: { config: ["constructor"] } },
      {},
      'the hook requires the configuration "constructor", which is not set',
    ],
    ["needs a setting that is there", { requires: { config: ["a.b"] } }, { config: { a: { b: "x" } } }, undefined],
    ["needs what every gateway has", { requires: { config: ["workspace.dir"] } }, {}, undefined],
    [
      "needs what this gateway has switched off",
      { requires: { config: ["browser.enabled"] } },
      { config: { browser: { enabled: false } } },
      'the hook requires the configuration "browser.enabled", which is not set',
    ],
  ])("a hook that %s", async (_, openclaw, here, reason) => {
    const found = await readHookFolder(folder(hook(`name: x\n${meta({ events: ["tool"], ...openclaw })}`)));
    expect(unmet(found, { ...HERE, ...here })).toBe(reason);
  });
});

contract("a HOOK.md hook", (isolation) => {
  const TS = `import type { HookHandler } from "../../src/hooks/hooks.js";

const seen = new Map<string, number>();

const handler: HookHandler = async (event) => {
  if (event.context.stopReason === "error") throw new Error("no");
  seen.set(event.sessionKey, (seen.get(event.sessionKey) ?? 0) + 1);
  console.log(JSON.stringify([event.type, event.timestamp.toISOString(), event.messages, seen.get(event.sessionKey)]));
};

export default handler;
`;
  const path = folder(hook(`name: audit\ndescription: Notes the end of sessions\nversion: 1.2.3\n${EVENTS}`, { "handler.ts": TS }));
  const shared = sharedHost(isolation, { plugins: [{ path }] });

  it("is a separate plugin, with the id hook-<name>, listening to its events", () => {
    expect(shared.host.inspect("hook-audit")).toMatchObject({ status: "ready", name: "audit", version: "1.2.3", diagnostics: [] });
    expect(shared.host.inspect("hook-audit").hooks.map(({ hook: name }) => name)).toEqual(["session:end"]);
  });

  it("gets the event only, with a Date and a list of messages as OpenClaw promises, and keeps its state", async () => {
    const second = next(shared.host, "log", ({ text }) => text.endsWith(",2]"));
    await shared.host.run("session:end", ended());
    await shared.host.run("session:end", ended());
    expect((await second).text).toBe('["session","1970-01-01T00:00:00.000Z",[],2]');
  });

  it("that throws is reported at the author's file and line, and no path of the host is in its bundle", async () => {
    const { calls } = await shared.host.run("session:end", ended({ context: { stopReason: "error" } }));
    expect(calls).toMatchObject([{ plugin: "hook-audit", status: "failed", error: { at: expect.stringMatching(/^handler\.ts:6:\d+$/) } }]);
    expect(JSON.stringify(calls)).not.toContain(path);
    const { root, entry, adapter } = await findPlugin(path);
    expect(JSON.stringify(await bundleFile(root, entry, adapter))).not.toContain(root);
  });

  it("can be named by its HOOK.md, under another id", async () => {
    await using host = await open(isolation, { plugins: [{ path: join(path, "HOOK.md"), id: "mine" }] });
    expect(host.inspect("mine").status).toBe("ready");
  });

  it("is a plugin when the folder has a plugin's manifest: that says more", async () => {
    const both = folder({ ...hook(EVENTS), "creel.plugin.json": `{ "id": "both" }`, "index.js": `export default () => {};` });
    await using host = await open(isolation, { plugins: [{ path: both }] });
    expect(host.inspect("both")).toMatchObject({ status: "ready", hooks: [] });
  });

  it("on a family hears all of it; an unknown event is a diagnostic, and the rest works", async () => {
    await using host = await open(isolation, {
      plugins: [{ path: folder(hook(`name: all\n${meta({ events: ["tool", "tool:strat"] })}`)) }],
    });
    expect(host.inspect("hook-all").diagnostics).toEqual(['there is no hook named "tool:strat"; did you mean "tool:start"?']);
    const heard = next(host, "log");
    const sessionMeta = { agentId: "", platform: "", channelType: "", channelId: "" };
    const context = { runId: "r", toolName: "t", toolCallId: "c", meta: {}, sessionMeta };
    host.emit("tool:result", { type: "tool", action: "result", sessionKey: "", context });
    expect((await heard).text).toBe("tool:result");
  });

  it("answers a command by adding to its messages, as in OpenClaw", async () => {
    const source = `export default async (event) => { event.messages.push("saved " + event.context.commandSource); return { messages: ["ignored"] }; };`;
    const hooks = [
      folder(hook(`name: one\nevents: [command:new]`, { "handler.js": source })),
      folder(hook(`name: two\nevents: [command]`, { "handler.js": source })),
    ];
    await using host = await open(isolation, { plugins: hooks.map((at) => ({ path: at })) });
    const event = {
      type: "command" as const,
      action: "new" as const,
      sessionKey: "k",
      messages: ["first"],
      context: { commandSource: "discord" },
    };
    expect((await host.run("command:new", event)).result).toEqual({ messages: ["saved discord", "saved discord"] });
  });

  it("changes the bootstrap files by changing the list, and the next one sees it", async () => {
    const source = `export default (event) => { event.context.bootstrapFiles.push({ name: event.context.bootstrapFiles.length + ".md" }); };`;
    const hooks = ["one", "two"].map((name) => folder(hook(`name: ${name}\nevents: [agent:bootstrap]`, { "handler.js": source })));
    await using host = await open(isolation, { plugins: hooks.map((at) => ({ path: at })) });
    const context = { workspaceDir: "/w", bootstrapFiles: [{ name: "A.md" }] };
    const { result } = await host.run("agent:bootstrap", { type: "agent", action: "bootstrap", sessionKey: "k", context });
    expect(result).toMatchObject({ context: { bootstrapFiles: [{ name: "A.md" }, { name: "1.md" }, { name: "2.md" }] } });
  });

  it("may export its handler under another name, or as CommonJS; an export that is no function fails the load and says so", async () => {
    const named = folder(
      hook(`name: named\n${meta({ events: ["session:end"], export: "onEnd" })}`, { "handler.js": SAY.replace("default", "const onEnd =") }),
    );
    const cjs = folder(hook(`name: cjs\n${EVENTS}`, { "handler.js": SAY.replace("export default", "module.exports =") }));
    const wrong = folder(hook(`name: wrong\n${meta({ events: ["session:end"], export: "onStart" })}`));
    await using host = await open(isolation, { plugins: [named, cjs, wrong].map((at) => ({ path: at })) });
    expect((await host.run("session:end", ended())).calls.map(({ plugin, status }) => `${plugin} ${status}`)).toEqual([
      "hook-named ok",
      "hook-cjs ok",
      "hook-wrong failed",
    ]);
    expect(host.inspect("hook-wrong").error?.message).toContain(`the hook's export "onStart" is not a function`);
  });

  it("sees the environment that the operator gives it, and its other settings, and nothing of the gateway's", async () => {
    const source = `export default () => console.log(process.env.TOKEN, process.env.PATH, Object.keys(process.env).length);`;
    const at = folder(hook(`name: env\n${EVENTS}`, { "handler.js": source }));
    await using host = await open(isolation, {
      plugins: [{ path: at }],
      config: { hooks: { internal: { entries: { env: { env: { TOKEN: "t-1" } } } } } },
    });
    const heard = next(host, "log");
    await host.run("session:end", ended());
    expect((await heard).text).toBe("t-1 undefined 5");
  });

  it("is read and bundled again on reload", async () => {
    const at = folder(hook(`name: fresh\n${EVENTS}`));
    await using host = await open(isolation, { plugins: [{ path: at }] });
    write(at, hook(`name: fresh\nevents: [session:start]`));
    expect((await host.reload("hook-fresh")).hooks.map(({ hook: name }) => name)).toEqual(["session:start"]);
  });
});

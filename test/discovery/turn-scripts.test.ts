/** Scripts of the `hooks.agent` section: one plugin each, for the agents they are for, in the sandbox like any other. */
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Host } from "creel";
import type { CreelConfig } from "../../src/protocol/config/config.ts";
import { runTurn } from "../../src/host/turn.ts";
import { folder } from "../support/files.ts";
import { contract, next, open, recorder } from "../support/host.ts";

const SCRIPTS = {
  "refuse.ts": `interface Ctx { agentId: string; turnIndex: number }\nexport default (ctx: Ctx) => ({ abort: true, reason: ctx.agentId + " may not, turn " + ctx.turnIndex });\n`,
  "pass.js": `export default async () => undefined;\n`,
  "note.js": `export default (ctx, second) => console.log(Object.keys(ctx).toSorted().join(), second === undefined || Object.keys(second).length === 0);\n`,
  "throws.ts": `type X = string;\n\nexport default (): X => {\n  throw new Error("script broke");\n};\n`,
  "hangs.js": `export default () => new Promise(() => {});\n`,
  "object.js": `export default { register() {} };\n`,
  "hourly/index.js": `let turns = 0;\nexport default () => ({ abort: ++turns > 2, reason: "2 turns" });\n`,
};
type Agent = NonNullable<NonNullable<CreelConfig["hooks"]>["agent"]>;

const root = folder(SCRIPTS);
const script = (name: keyof typeof SCRIPTS | "missing.js", more: object = {}) => ({ script: join(root, name), ...more });
const turn = (host: Host, agentId = "main", execute: () => { value: unknown } = () => ({ value: "done" })) =>
  runTurn(host, { sessionKey: `agent:${agentId}:main`, agentId }, execute);

contract("turn hook scripts", (isolation) => {
  const opened = (agent: Agent, more: object = {}) => open(isolation, { config: { hooks: { agent } }, ...more });

  it("each entry is a separate plugin, named after its hook and its script", async () => {
    const agent = {
      beforeTurn: [script("pass.js"), script("hourly/index.js")],
      afterTurn: [script("note.js"), script("note.js")],
      onTurnError: [script("note.js")],
    };
    await using host = await opened(agent);
    expect(host.plugins().map(({ id, status }) => `${id} ${status}`)).toEqual([
      "turn-beforeTurn-pass ready",
      "turn-beforeTurn-hourly ready",
      "turn-afterTurn-note ready",
      "turn-afterTurn-note-2 ready",
      "turn-onTurnError-note ready",
    ]);
    expect(host.inspect("turn-beforeTurn-pass").hooks.map(({ hook }) => hook)).toEqual(["beforeTurn"]);
  });

  it("beforeTurn: returning { abort: true } skips the turn", async () => {
    await using host = await opened({ beforeTurn: [script("pass.js"), script("refuse.ts")] });
    expect(await turn(host)).toEqual({ aborted: true, by: "turn-beforeTurn-refuse", reason: "main may not, turn 0" });
  });

  it("returning nothing lets it pass", async () => {
    await using host = await opened({ beforeTurn: [script("pass.js")] });
    expect(await turn(host)).toMatchObject({ aborted: false, value: "done" });
  });

  it("afterTurn gets one argument: the session's context, the duration and the usage; onTurnError the error", async () => {
    await using host = await opened({ afterTurn: [script("note.js")], onTurnError: [script("note.js")] });
    const after = next(host, "log", ({ plugin }) => plugin === "turn-afterTurn-note");
    await turn(host, "main", () => ({ value: 1, usage: { total: 3 } }));
    expect((await after).text).toBe("agentId,durationMs,sessionKey,turnIndex,usage,workflow true");
    const failed = next(host, "log", ({ plugin }) => plugin === "turn-onTurnError-note");
    await expect(turn(host, "main", () => JSON.parse("{"))).rejects.toThrow(SyntaxError);
    expect((await failed).text).toBe("agentId,durationMs,error,sessionKey,turnIndex,workflow true");
  });

  it.each([
    ["a text", "ops"],
    ["a list", ["ops", "research"]],
  ])("filter.agentId, %s, chooses the agents it is for", async (_, agentId) => {
    await using host = await opened({ beforeTurn: [script("refuse.ts", { filter: { agentId } })] });
    expect(await turn(host, "main")).toMatchObject({ aborted: false });
    expect(await turn(host, "ops")).toMatchObject({ aborted: true });
    expect(await turn(host, "research")).toMatchObject({ aborted: Array.isArray(agentId) });
  });

  it("the filter applies to afterTurn as well", async () => {
    await using host = await opened({ afterTurn: [script("note.js", { filter: { agentId: "ops" } })] });
    const ran = next(host, "run", ({ outcome }) => outcome.hook === "afterTurn");
    await turn(host, "main");
    expect((await ran).outcome.calls).toMatchObject([{ status: "skipped" }]);
  });

  it("a script keeps its state between turns", async () => {
    await using host = await opened({ beforeTurn: [script("hourly/index.js")] });
    const outcomes = [];
    for (let at = 0; at < 3; at++) outcomes.push((await turn(host)).aborted);
    expect(outcomes).toEqual([false, false, true]);
  });

  it("a script that throws is logged at the author's file and line, and the turn goes on", async () => {
    const { logger, lines } = recorder();
    await using host = await opened({ beforeTurn: [script("throws.ts")] }, { logger });
    expect(await turn(host)).toMatchObject({ value: "done" });
    expect(lines).toContainEqual(
      expect.objectContaining({
        message: "a handler failed",
        fields: expect.objectContaining({ plugin: "turn-beforeTurn-throws", at: expect.stringMatching(/^throws\.ts:4:/) }),
      }),
    );
  });

  it("timeoutMs bounds a script that hangs", async () => {
    await using host = await opened({ beforeTurn: [script("hangs.js", { timeoutMs: 100 })] });
    expect(host.inspect("turn-beforeTurn-hangs").hooks[0]!.budget.wallMs).toEqual({ value: 100, origin: "operator, for this plugin" });
    expect(await turn(host)).toMatchObject({ value: "done" });
  });

  it("enabled: false keeps a script out, visibly", async () => {
    await using host = await opened({ beforeTurn: [script("refuse.ts", { enabled: false })] });
    expect(host.inspect("turn-beforeTurn-refuse")).toMatchObject({
      status: "disabled",
      diagnostics: ["hooks.agent.beforeTurn[0].enabled is false"],
    });
    expect(await turn(host)).toMatchObject({ aborted: false });
  });

  it("a script that is missing, or exports no function, is shown as failed; turns go on", async () => {
    await using host = await opened({ beforeTurn: [script("missing.js"), script("object.js")] });
    expect(host.inspect("turn-beforeTurn-missing")).toMatchObject({ status: "failed", error: { code: "ERR_PLUGIN_ENTRY" } });
    expect(host.inspect("turn-beforeTurn-object").error?.message).toContain("must be a function (ctx) => result");
    expect(await turn(host)).toMatchObject({ value: "done" });
  });

  it("the operator's plugins.entries hold for a script, too", async () => {
    const entries = { "turn-beforeTurn-refuse": { enabled: false } };
    await using host = await open(isolation, {
      config: { hooks: { agent: { beforeTurn: [script("refuse.ts")] } }, plugins: { enabled: false, entries } },
    });
    expect(host.inspect("turn-beforeTurn-refuse").status).toBe("disabled");
  });

  it("scripts can be reloaded like any plugin", async () => {
    await using host = await opened({ beforeTurn: [script("hourly/index.js")] });
    for (let at = 0; at < 3; at++) await turn(host);
    await host.reload("turn-beforeTurn-hourly");
    expect(await turn(host)).toMatchObject({ aborted: false });
  });
});

it.each([
  ["a hook that does not exist", { beforeturn: [] }],
  ["an entry without a script", { beforeTurn: [{}] }],
  ["a misspelt filter, which would widen it to every agent", { beforeTurn: [{ script: "x.js", filters: { agentId: "ops" } }] }],
  ["a misspelt key of the filter", { beforeTurn: [{ script: "x.js", filter: { agentID: "ops" } }] }],
  ["a filter that lets nobody through", { beforeTurn: [{ script: "x.js", filter: { agentId: [] } }] }],
])("the configuration refuses %s", async (_, agent) => {
  await expect(open("thread", { config: { hooks: { agent } } as unknown as CreelConfig })).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
  });
});

it("the file that was named is the one that runs, not a namesake of another kind", async () => {
  const at = folder({ "no.js": `export default () => ({ abort: true });`, "no.ts": `export default () => ({ abort: false });` });
  await using host = await open("thread", { config: { hooks: { agent: { beforeTurn: [{ script: join(at, "no.js") }] } } } });
  expect(await turn(host)).toMatchObject({ aborted: true });
});

it("a script's path is relative to the configuration file", async () => {
  const at = folder({
    "creel.json": `{ "hooks": { "agent": { "beforeTurn": [{ "script": "./guards/no.js" }] } } }`,
    "guards/no.js": `export default () => ({ abort: true });`,
  });
  await using host = await open("thread", { config: join(at, "creel.json") });
  expect(await turn(host)).toMatchObject({ aborted: true, by: "turn-beforeTurn-no" });
});

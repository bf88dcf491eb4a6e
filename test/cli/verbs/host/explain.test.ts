/** `creel explain`, `creel permissions suggest` and `diff`: what they say about real runs of an installed plugin, from files alone. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import { adviceOf } from "../../../../src/text/run-advice.ts";
import { specOf } from "../../../../src/cli/plugins/permission-diff.ts";
import type { AuditCall, AuditRun } from "../../../../src/protocol/audit-line.ts";
import { openState } from "../../../../src/state/state.ts";
import { operator, pluginFolder } from "../../../install/pipeline.ts";
import { factsOf, filesOf } from "../../../state/state-world.ts";
import { folder, QUICK, write } from "../../../support/files.ts";
import { silent } from "../../../support/host.ts";
import { serve } from "../../../support/server.ts";
import type { TestServer } from "../../../support/server.ts";
import { creelHere } from "../../../support/cli-in-process.ts";

const HOSTILE = "\u001b[2J\u009b1m\u202e\nforged";

/** Does what the call's parameters say. */
const WORKER = `
export default (api) => {
  api.on("before_tool_call", async ({ params }) => {
    if (params.get) await fetch(params.get).catch(() => {});
    if (params.post) await fetch(params.post, { method: "POST" }).catch(() => {});
    if (params.kv) await api.kv.set("a", 1).catch(() => {});
    if (params.patch) await api.session.patch({ key: "k", label: "l" }).catch(() => {});
    if (params.block) return { block: true, blockReason: params.block };
    if (params.rewrite) return { params: { rewritten: true, block: params.rewrite } };
  }, { priority: 5 });
  api.on("llm_input", () => {});
};`;
const JUDGE = `export default (api) => { api.on("before_tool_call", ({ params }) => params.rewritten && { block: true, blockReason: "judged " + params.block }); };`;

describe("about an installed plugin", () => {
  const home = folder({ "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none", "spare": false } }` }, QUICK);
  const dir = join(home, "state");
  const project = ["--config", join(home, "creel.json")];
  const ids: Record<string, string> = {};
  const servers: TestServer[] = [];
  let root = "";
  beforeAll(async () => {
    const [used, other] = [await serve((_, response) => response.end("ok")), await serve((_, response) => response.end("ok"))];
    servers.push(used, other);
    const asks = {
      fetch: [
        { origin: used.origin, reason: "to ask" },
        { origin: other.origin, pathPrefix: "/v1", methods: ["GET"], reason: "to ask the other one" },
      ],
      kv: { reason: "remembers" },
      schedule: { reason: "works later" },
      session: [{ access: "patch", reason: "labels" }],
      env: [{ name: "PLACE", reason: "where it is" }],
      clock: { reason: "measures" },
    };
    root = pluginFolder({ id: "worker", permissions: asks }, WORKER);
    const shop = operator(dir);
    // What it asks for, but not what lets it patch.
    const all = [`fetch:${used.origin}`, `fetch:${other.origin}/v1#GET`, "kv", "schedule", "env:PLACE", "clock", "conversation", "prompt"];
    await shop.install(root, all);
    await using host = await openHost({
      isolation: "thread",
      lanes: 1,
      logger: silent,
      config: { stateDir: dir },
      plugins: [{ id: "judge", source: JUDGE }],
    });
    const tool = async (scene: string, params: Record<string, unknown>) => {
      ids[scene] = (await host.run("before_tool_call", { toolName: "exec", params })).runId;
    };
    await tool("asks", { get: `${used.origin}/v1/items/1?q=1`, post: `${used.origin}/v1/orders` });
    await tool("asks again", { get: `${used.origin}/v1/items/2`, kv: true, patch: true });
    await tool("stranger", { get: "http://127.0.0.1:9/x" });
    await tool("blocks", { block: `because ${HOSTILE}` });
    await tool("rewrites", { rewrite: "x".repeat(300) });
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
  });

  it("a run is told with who decided, what it saw and returned, what it used, and what to do", async () => {
    const { code, out } = await creelHere("explain", ids.rewrites!, ...project);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^before_tool_call {2}block by judge\n {2}why +judge returned block: true; it was blocked\.\n {2}reason +judged\n +x+/,
    );
    expect(out).toMatch(
      /✓ 1 {2}worker {2}ok {2}priority 5\n +used +[\d.]+ m?s of 15\.00 s \(catalog\), cpu [\d.<]+ ms of 100 ms \(catalog\)/,
    );
    expect(out).toContain("changed   params, for the plugins after it");
    // The event as the second saw it, whole.
    const [, , ofJudge = ""] = out.split("✓");
    expect(ofJudge).toMatch(/^ 2 {2}judge +ok {2}← decided\n/);
    expect(ofJudge).toMatch(/saw +\{\n +"toolName": "exec",\n +"params": \{\n[^}]+"rewritten": true,/);
    expect(out).toContain("(worker changed it before)");
    // The gateway named it: there is no command for it.
    expect(out.replaceAll(/\s+/g, " ")).toContain("set plugins.entries.judge.enabled to false in creel.json");
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(90);
    const { out: json } = await creelHere("explain", ids.rewrites!, "--json", ...project);
    expect(JSON.parse(json)).toMatchObject({
      run: { runId: ids.rewrites, decision: "block", by: "judge", calls: [{ plugin: "worker", changed: ["params"] }, { plugin: "judge" }] },
      why: "judge returned block: true; it was blocked.",
      advice: [{ command: null }, { command: null }],
      around: [],
    });
  });

  it("hostile text stays on its line, in a page, a list and as JSON", async () => {
    for (const args of [["explain", ids.blocks!], ["explain", ids.blocks!, "--json"], ["explain"]]) {
      const { code, out } = await creelHere(...args, ...project);
      expect(code).toBe(0);
      // oxlint-disable-next-line no-control-regex -- that is the point
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(out).not.toMatch(/^forged/m);
    }
  });

  it("without a run the last are listed, the last first; a unique beginning is enough, another is refused, one that passed is not there", async () => {
    const { out } = await creelHere("explain", "--json", ...project);
    expect((JSON.parse(out) as AuditRun[]).map(({ runId }) => runId)).toEqual([ids.rewrites, ids.blocks]);
    expect((await creelHere("explain", ...project)).out).toMatch(
      /^run +at +hook +decision +by +reason\nh\w+-5 +\d{4}-.* before_tool_call +block +judge/,
    );
    const common = ids.rewrites!.slice(0, -1);
    const several = await creelHere("explain", common, ...project);
    expect([several.code, several.err]).toEqual([
      1,
      expect.stringContaining(`several runs begin with "${common}": ${ids.rewrites}, ${ids.blocks}`),
    ]);
    const none = await creelHere("explain", ids.asks!, ...project);
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringMatching(/has no run "h\w+-1": it has 2 runs, since 2[^]*Fix: run "creel explain" to list the last runs/),
    ]);
    expect((await creelHere("explain", "a", "b", ...project)).code).toBe(2);
    const listed = async (...args: string[]) =>
      (JSON.parse((await creelHere("explain", ...args, "--json", ...project)).out) as AuditRun[]).map(({ runId }) => runId);
    expect([await listed("--plugin", "worker"), await listed("--plugin", "judge", "--since", "1h")]).toEqual([
      [ids.blocks],
      [ids.rewrites],
    ]);
    expect(await listed("--since", "2999-01-01")).toEqual([]);
    const last = async (...args: string[]) =>
      (JSON.parse((await creelHere("explain", "last", ...args, "--json", ...project)).out) as { run: AuditRun }).run.runId;
    expect([await last(), await last("--plugin", "worker")]).toEqual([ids.rewrites, ids.blocks]);
  });

  it("suggest: what was used, what never was, what is wider than needed, what was refused, and what nobody can tell", async () => {
    const [used, other] = servers.map(({ origin }) => origin);
    const { code, out } = await creelHere("permissions", "suggest", "worker", "--json", ...project);
    expect(code).toBe(0);
    const found = JSON.parse(out) as {
      calls: number;
      isThin: boolean;
      suggestions: { sign: string; key: string; command: string | null }[];
    };
    expect([found.calls, found.isThin]).toEqual([5, true]);
    expect(found.suggestions.map(({ sign, key }) => `${sign} ${key}`)).toEqual([
      `- fetch:${used}`,
      `+ fetch:${used}/v1/items#GET`,
      `+ fetch:${used}/v1/orders#POST`,
      `- fetch:${other}/v1#GET`,
      "? env:PLACE",
      "= kv",
      "- schedule",
      "? clock",
      "- conversation",
      "- prompt",
      "+ session:patch",
      "+ fetch:http://127.0.0.1:9/x#GET",
    ]);
    expect(found.suggestions[0]!.command).toBe(`creel permissions revoke worker fetch:${used} ${project.join(" ")}`);
    const page = await creelHere("permissions", "suggest", "worker", ...project);
    expect(page.out).toMatch(/from 5 calls, 2.* to 2.*\n! that is little/);
    expect(page.out).toContain("refused once\n");
    expect(page.out).toContain("refused once; it never requested it");
    expect(page.out).toContain(`creel permissions grant worker 'fetch:${used}/v1/items#GET' ${project.join(" ")}`);
    const insecure = found.suggestions.find(({ key }) => key.endsWith(":9/x#GET"));
    expect(insecure!.command).toMatch(/ --unasked --insecure$/);
    // Following it leaves nothing to suggest but what was not followed.
    const keys = (sign: string) => found.suggestions.filter((one) => one.sign === sign && one.key !== "prompt").map(({ key }) => key);
    await creelHere("permissions", "grant", "worker", ...keys("+"), "--unasked", "--insecure", ...project);
    await creelHere("permissions", "revoke", "worker", ...keys("-"), ...project);
    const after = JSON.parse((await creelHere("permissions", "suggest", "worker", "--json", ...project)).out) as typeof found;
    expect(after.suggestions.flatMap(({ sign, key }) => (sign === "-" || sign === "+" ? key : []))).toEqual(["prompt"]);
  });

  it("suggest of a plugin that was never called says that nothing is known, and suggests nothing", async () => {
    await openState(dir).transaction((tx) => tx.put({ ...factsOf("idle"), grants: { kv: true } }, filesOf("idle")));
    const { out } = await creelHere("permissions", "suggest", "idle", ...project);
    expect(out).toContain("! the audit log has no calls of it");
    expect(out).toMatch(/\? kv: .*\n +it is not in the audit log\n/);
    expect(out).not.toContain("creel permissions");
  });

  it("diff: against its own manifest, and against another source of it, without installing that", async () => {
    const own = JSON.parse((await creelHere("permissions", "diff", "idle", "--json", ...project)).out) as object;
    expect(own).toMatchObject({ id: "idle", source: null, changes: [{ sign: "-", text: "kv" }, { sign: "-" }, { sign: "-" }] });
    const mine = (await creelHere("permissions", "diff", "worker", ...project)).out;
    expect(mine).toMatch(/^worker {2}its permissions, compared with what its manifest requests\n/);
    expect(mine).toContain("+ permission schedule");
    write(root, { "creel.plugin.json": JSON.stringify({ id: "worker", version: "2.0.0", permissions: { fs: { reason: "files" } } }) });
    const next = await creelHere("permissions", "diff", "worker", root, ...project);
    expect([next.code, next.out.split("\n")[0]]).toEqual([0, `worker  1.0.0 (installed), compared with 2.0.0 from ${root}`]);
    expect(next.out).toContain("+ permission fs\n");
    // It was revoked above: that it was asked for before does not mean that it has it.
    expect(next.out).toContain("+ permission conversation\n");
    expect(next.out).toContain("= hook       llm_input");
    expect((await creelHere("inspect", "worker", ...project)).out).toMatch(/^worker 1\.0\.0/);
    const version = await creelHere("permissions", "diff", "worker", "2.0.0", ...project);
    expect([version.code, version.err]).toEqual([
      2,
      expect.stringContaining('"2.0.0" is a version, and the plugin was installed from file:'),
    ]);
  });
});

it.each([
  ["weather@^1.0.0", "2.0.0", "weather@2.0.0"],
  ["@scope/weather@1", "latest", "@scope/weather@latest"],
  ["weather", "^2", "weather@^2"],
  ["git:https://example.com/w.git#v1", "v2", "git:https://example.com/w.git#v2"],
  ["weather@1", "./folder", "./folder"],
  ["weather@1", "other@2.0.0", "other@2.0.0"],
])("a plugin from %s against %s is %s", (installed, other, spec) => {
  expect(specOf(installed, other)).toBe(spec);
});

it("a call that failed for want of a requested permission has the command that grants it; what was never requested has none", async () => {
  const dir = folder({}, QUICK);
  const source = `export default (api) => {
    api.on("before_tool_call", ({ params }) => params.far ? fetch(params.far) : api.session.patch({ key: "k", label: "l" }));
  };`;
  const plugin = pluginFolder({ id: "lacking", permissions: { session: [{ access: "patch", reason: "labels" }] } }, source);
  await operator(dir).install(plugin, []);
  const told = async (params: Record<string, unknown>) => {
    const options = { isolation: "thread", lanes: 1, logger: silent, config: { stateDir: dir } } as const;
    await using host = await openHost(options);
    const { runId } = await host.run("before_tool_call", { toolName: "exec", params });
    await host.close();
    return (await creelHere("explain", runId, "--state-dir", dir)).out;
  };
  const near = await told({});
  expect(near).toContain(`creel permissions grant lacking session:patch --state-dir ${dir}\n`);
  expect(near).not.toContain("file and line");
  expect(await told({ far: "https://far.example/x" })).not.toMatch(/permissions grant .*far\.example/);
});

it("a request that failed although it is granted was not refused: no narrower grant is advised", async () => {
  const dir = folder({}, QUICK);
  const origin = "https://away.invalid";
  const source = `export default (api) => { api.on("before_tool_call", () => fetch("${origin}/v1")); };`;
  const plugin = pluginFolder({ id: "granted", permissions: { [`fetch:${origin}`]: "asks" } }, source);
  await operator(dir).install(plugin, [`fetch:${origin}`]);
  const options = { isolation: "thread", lanes: 1, logger: silent, config: { stateDir: dir } } as const;
  await using host = await openHost(options);
  const { runId } = await host.run("before_tool_call", { toolName: "exec", params: {} });
  await host.close();
  const { out } = await creelHere("explain", runId, "--state-dir", dir);
  expect(out).toContain("away.invalid failed");
  expect(out).not.toMatch(/was refused what it requests|permissions grant/);
});

it("a log that somebody has written into by hand paints nothing, and what cannot be read is counted", async () => {
  const dir = folder({}, QUICK);
  mkdirSync(join(dir, "audit"));
  const call = {
    plugin: HOSTILE,
    priority: 0,
    status: HOSTILE,
    wallMs: 1,
    cpuMs: 1,
    budget: { wallMs: { value: 1, origin: HOSTILE }, cpuMs: { value: 1, origin: HOSTILE } },
    saw: { text: HOSTILE, chars: 99 },
    returned: { value: { [HOSTILE]: HOSTILE } },
    changed: [HOSTILE],
    ignored: [HOSTILE],
    error: { code: HOSTILE, message: HOSTILE, at: HOSTILE },
  };
  const line = {
    v: 1,
    at: "2026-01-02T03:04:05.678Z",
    host: HOSTILE,
    pid: 1,
    kind: "run",
    runId: "r1",
    hook: HOSTILE,
    decision: HOSTILE,
    by: HOSTILE,
    reason: HOSTILE,
    failure: "closed",
    chain: { rootRunId: HOSTILE, depth: 1, path: [HOSTILE] },
    approval: {
      pluginId: HOSTILE,
      resolution: HOSTILE,
      requests: [{ pluginId: HOSTILE, title: HOSTILE, severity: HOSTILE, resolution: HOSTILE, isRemembered: true }],
      changes: [{ pluginId: HOSTILE, params: [HOSTILE] }],
      answeredBy: HOSTILE,
    },
    event: { text: HOSTILE, chars: 99 },
    result: { value: HOSTILE },
    unknown: HOSTILE,
    calls: [call, { ...call, plugin: "__proto__" }],
  };
  writeFileSync(join(dir, "audit/runs.jsonl"), `${JSON.stringify(line)}\n`);
  appendFileSync(join(dir, "audit/runs.jsonl"), `{"runId":"r1\n`);
  appendFileSync(
    join(dir, "audit/state.jsonl"),
    `${JSON.stringify({ ...line, kind: "quarantine", plugin: HOSTILE, state: HOSTILE, why: HOSTILE })}\n`,
  );
  for (const args of [["explain", "r1"], ["explain"], ["explain", "r1", "--json"]]) {
    const { code, out, err } = await creelHere(...args, "--state-dir", dir);
    expect([code, err]).toEqual([0, expect.stringContaining("1 lines of")]);
    // oxlint-disable-next-line no-control-regex -- that is the point
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(out).not.toMatch(/^forged/m);
  }
});

const failedCall = (status: string, message: string) =>
  ({ plugin: "judge", status, budget: {}, error: { code: "ERR_CALL_FAILED", message } }) as unknown as AuditCall;
const blocked = (one: AuditCall) =>
  ({ hook: "before_tool_call", decision: "block", by: "judge", failure: "closed", calls: [one] }) as unknown as AuditRun;
const telling = { tell: (...words: string[]) => `creel ${words.join(" ")}`, isInstalled: () => true };

describe("advice", () => {
  it("names no permission that only the plugin's own text names: what it may do is shown instead", () => {
    const advice = adviceOf(blocked(failedCall("failed", "fetch from https://evil.example is not granted to judge")), telling);
    expect(advice.map(({ command }) => command)).toContain("creel permissions show judge");
    expect(JSON.stringify(advice)).not.toContain("evil");
  });

  it("names the key of creel.json for a plugin that was not installed, and no command that would fail", () => {
    const advice = adviceOf(blocked(failedCall("failed", "x")), { ...telling, isInstalled: () => false });
    expect(advice.map(({ command }) => command)).toEqual(["creel inspect judge", null, null]);
    const text = advice.map((one) => one.text).join("\n");
    for (const key of ["plugins.entries.judge.permissions", "plugins.entries.judge.enabled"]) expect(text).toContain(key);
  });

  it("says how a plugin gets out of quarantine", () => {
    expect(adviceOf(blocked(failedCall("quarantined", "x")), telling)[0]).toMatchObject({ command: "creel release judge" });
  });
});

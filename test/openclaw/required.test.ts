/**
 * A required plugin in OpenClaw, which goes on when most handlers throw: the bridge, and the shim without it, answer what stops it. The
 * API is a stand-in, host and sandbox are real.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shim } from "../../src/openclaw/bridge.ts";
import { registerHooks } from "../../src/openclaw/hook-handlers.ts";
import { refusedTurns } from "../../src/openclaw/refused-turns.ts";
import { sharedHost } from "../../src/openclaw/shared-host.ts";
import type { SharedHost } from "../../src/openclaw/shared-host.ts";
import { shimFilesOf, writeShim } from "../../src/openclaw/shim-files.ts";
import type { ShimFacts } from "../../src/openclaw/shim-facts.ts";
import { sampleContext, sampleEvent } from "../../src/protocol/rules/samples.ts";
import { CATALOG } from "creel";
import { folder, QUICK } from "../support/files.ts";
import { putInstalled } from "../support/installed.ts";
import { factsOf, gateway, hook, sdk } from "./support/fake-gateway.ts";
import type { Fake } from "./support/fake-gateway.ts";

const RESULT = {
  role: "toolResult",
  toolCallId: "c1",
  toolName: "read",
  content: [{ type: "text", text: "s3cret" }],
  details: { a: "s3cret" },
};

const WHY = expect.any(String) as string;
/** By hook: an event, and what stops OpenClaw there. */
const CLOSED: Readonly<Record<string, readonly [event: object, answer: object]>> = {
  message_sending: [
    { to: "x", content: "s3cret" },
    { cancel: true, cancelReason: WHY },
  ],
  reply_payload_sending: [
    { payload: { text: "s3cret" }, kind: "final" },
    { cancel: true, reason: WHY },
  ],
  before_dispatch: [{ content: "s3cret" }, { handled: true }],
  before_agent_reply: [{ cleanedBody: "s3cret" }, { handled: true, reason: WHY }],
  inbound_claim: [{ content: "s3cret", channel: "web", isGroup: false }, { handled: true }],
  before_message_write: [{ message: RESULT }, { block: true }],
  tool_result_persist: [
    { toolName: "read", message: RESULT },
    { message: { role: "toolResult", toolCallId: "c1", toolName: "read", content: [{ type: "text", text: WHY }] } },
  ],
};
const NAMES = Object.keys(CLOSED);
const CONTEXT = { channelId: "web", runId: "r", sessionKey: "main", agentId: "main" };
const PROMPT = { prompt: "s3cret", messages: [] };

const EVALUATE = CATALOG.skill_proposal_evaluate;
const EARLY = ["before_prompt_build", "before_agent_start", "agent:bootstrap"];
const ALL = [...NAMES, ...EARLY, EVALUATE.name];
const FAILS = ALL.map((name) => `api.on("${name}", () => { throw new Error("no rules"); });`).join("\n");

const factsFor = (id: string, names: readonly string[], failure: "open" | "closed", stateDir: string): ShimFacts =>
  factsOf(
    id,
    stateDir,
    names.map((name) => hook(name, 0, failure)),
  );

/** Three plugins on one host: `filter` is required and fails, `lax` fails, `fine` answers. */
const open: Fake[] = [];
let filter: Fake;
let lax: Fake;
let fine: Fake;

beforeAll(async () => {
  const stateDir = folder({}, QUICK);
  const put = async (id: string, source: string, names: readonly string[], required: boolean): Promise<Fake> => {
    const permissions = { allowConversationAccess: true, allowPromptInjection: true, ...(required && { required }) };
    const hooks = names.map((name) => ({ hook: name, priority: 0 }));
    await putInstalled(stateDir, id, `export default (api) => { ${source} };`, { hooks, permissions });
    const fake = gateway(id, { hooks: { allowConversationAccess: true, allowPromptInjection: true } }, open);
    shim(factsFor(id, names, required ? "closed" : "open", stateDir), fake.api, sdk);
    return fake;
  };
  filter = await put("filter", FAILS, ALL, true);
  lax = await put("lax", FAILS, ALL, false);
  fine = await put("fine", `api.on("${EVALUATE.name}", () => ({ decision: "pass", summary: "fine" }));`, [EVALUATE.name], false);
  await sharedHost().open(filter.api);
});
afterAll(async () => {
  for (const fake of open) await fake.dispose();
});

/** What OpenClaw is given. */
async function answers(fake: Fake): Promise<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  for (const name of NAMES)
    given[name] = await (async () => fake.on.get(name)!(CLOSED[name]![0], CONTEXT))().catch((error: Error) => `threw ${error.message}`);
  return given;
}

const closed = Object.fromEntries(NAMES.map((name) => [name, CLOSED[name]![1]]));

const say = async ({ on }: Fake): Promise<unknown> => on.get(EVALUATE.name)!(sampleEvent(EVALUATE), sampleContext(EVALUATE));

describe("a required plugin", () => {
  it("that fails stops OpenClaw at every hook that has an answer for it, and lets nothing of a tool's result be kept", async () => {
    const given = await answers(filter);
    expect(given).toEqual(closed);
    expect(JSON.stringify(given)).not.toContain("s3cret");
  });

  it("that is not required lets OpenClaw go on, as the catalog says", async () => {
    const given = await answers(lax);
    for (const name of ["before_message_write", "tool_result_persist"]) expect(given[name]).toMatch(/^threw .*no rules/);
    expect(given).toMatchObject({ message_sending: undefined, reply_payload_sending: undefined, before_dispatch: undefined });
  });

  it("whose prompt hook fails ends that turn at its gate, and no other turn", async () => {
    const begins = (runId: string, sessionKey: string) =>
      filter.all.filter((one) => one.hook === "before_agent_run").map(({ handler }) => handler(PROMPT, { runId, sessionKey }));
    const build = filter.all.find((one) => one.hook === "before_prompt_build");
    await build!.handler(PROMPT, { ...CONTEXT, runId: "r1" });
    expect(begins("r2", "other")).toEqual([undefined]);
    expect(begins("r1", "main")).toEqual([{ outcome: "block", reason: expect.stringContaining("no rules") as string }]);
    await filter.on.get("before_model_resolve")!({ prompt: "p" }, { ...CONTEXT, runId: "r3" });
    expect(begins("r3", "main")).toMatchObject([{ outcome: "block" }]);
    const context = { workspaceDir: "/ws", bootstrapFiles: [{ path: "a" }], sessionKey: "boot" };
    await filter.on.get("agent:bootstrap")!({ type: "agent", action: "bootstrap", sessionKey: "boot", context, messages: [] }, {});
    expect(begins("r4", "boot")).toMatchObject([{ outcome: "block" }]);
    expect(begins("r5", "boot")).toEqual([undefined]);
    expect(lax.all.some((one) => one.hook === "before_agent_run")).toBe(false);
  });

  it("that fails blocks an evaluation of a skill; one of another plugin is its own answer, or its own error", async () => {
    expect(await say(fine)).toEqual({ decision: "pass", summary: "fine" });
    await expect(say(lax)).rejects.toThrow("no rules");
    expect(await say(filter)).toEqual({ decision: "block", decisionReason: expect.stringContaining("no rules") as string });
  });

  it("answers before OpenClaw gives up on it and goes on", async () => {
    const late = gateway("filter", { hooks: { timeouts: { message_sending: 40 } } });
    const facts = factsFor("filter", ["message_sending"], "closed", "/unused");
    const attachment = { facts, api: { ...late.api, config: late.config }, sdk, refused: refusedTurns("filter") };
    registerHooks(attachment, { ready: () => new Promise(() => {}) } as unknown as SharedHost);
    const answer = late.on.get("message_sending")!(CLOSED.message_sending![0], CONTEXT);
    expect(await Promise.race([answer, sleep(40, "OpenClaw gave up")])).toMatchObject({ cancel: true });
  });

  it("stops OpenClaw in the same way when there is no sandbox to ask", async () => {
    await filter.dispose();
    expect(await answers(filter)).toEqual(closed);
  });

  it("whose shim cannot load Creel has stand-ins for all its hooks that OpenClaw can be stopped at, and no other plugin has them", async () => {
    const names = [...NAMES, "before_prompt_build", "message_received"];
    const standIns = async (failure: "open" | "closed"): Promise<Record<string, unknown>> => {
      const dir = join(folder({}, QUICK), "filter");
      writeShim(dir, shimFilesOf(factsFor("filter", names, failure, "/state"), {}));
      const { default: plugin } = (await import(pathToFileURL(join(dir, "index.mjs")).href)) as {
        default: { register(api: object): void };
      };
      const found: Record<string, unknown> = {};
      const on = (name: string, handler: (event: object) => unknown): void => {
        try {
          found[name] = handler(CLOSED[name]?.[0] ?? PROMPT);
        } catch (error) {
          found[name] = `threw ${(error as Error).message}`;
        }
      };
      plugin.register({ logger: { error: () => {} }, on });
      return found;
    };
    expect(await standIns("closed")).toEqual({
      ...closed,
      before_agent_run: expect.stringMatching(/^threw .*its gates stay shut/) as string,
    });
    expect(await standIns("open")).toEqual({});
  });
});

it("a hook that can end turns has a stand-in, whatever its failure means", () => {
  const { "index.mjs": entry } = shimFilesOf(factsOf("turns", "/state", [hook("beforeTurn", 7)]), {});
  expect(entry).toContain('const GATES = [{"hook":"before_agent_run","priority":7}];');
});

/** What sandboxed plugins ask about one tool call, when OpenClaw asks one question only. Its way of merging is played; the real one: live.test.ts. */
import { describe, expect, it } from "vitest";
import { shim } from "../../src/openclaw/bridge.ts";
import { putInstalled } from "../support/installed.ts";
import { folder, QUICK } from "../support/files.ts";
import { factsOf, gateway, hook, sdk } from "./support/fake-gateway.ts";
import type { Fake } from "./support/fake-gateway.ts";

interface Answer {
  readonly params?: object;
  readonly block?: boolean;
  readonly blockReason?: string;
  readonly requireApproval?: { readonly title: string; onResolution(decision: string): void };
}

const ASKS = `return { requireApproval: { title: api.id + " asks", description: "d", onResolution: (d) => { api.logger.warn(api.id + " heard " + d); } } };`;
const BODIES = {
  asks: ASKS,
  asksOnce: `if (event.params.n === 1) { ${ASKS} }`,
  changes: `return { params: { ...event.params, changed: true } };`,
  repeats: `return { params: { ...event.params } };`,
  blocks: `return { block: true, blockReason: "no" };`,
} as const;

/** The plugins "first" and "second", whose handlers OpenClaw calls in this order. */
async function two(first: keyof typeof BODIES, second: keyof typeof BODIES) {
  const stateDir = folder({}, QUICK);
  const hooks = [{ hook: "before_tool_call", priority: 0 }];
  const fakes: Fake[] = [];
  for (const [id, what] of Object.entries({ first, second })) {
    const source = `export default (api) => { api.on("before_tool_call", (event) => { ${BODIES[what]} }); };`;
    await putInstalled(stateDir, id, source, { hooks });
    fakes.push(gateway(id));
  }
  for (const { api } of fakes) shim(factsOf(api.id, stateDir, [hook("before_tool_call")]), api, sdk);
  const handlers = fakes.map(({ on }) => on.get("before_tool_call")!);
  /** One run of the hook, ended by a block as in OpenClaw. */
  const call = async (ids: object, n = 1): Promise<Answer[]> => {
    const answers: Answer[] = [];
    for (const handler of handlers) {
      const answer = (await handler({ toolName: "exec", params: { n }, ...ids }, { toolName: "exec", sessionKey: "main" })) as
        | Answer
        | undefined;
      answers.push(answer ?? {});
      if (answer?.block === true) break;
    }
    return answers;
  };
  const heard = async (what: string): Promise<void> => {
    await expect.poll(() => fakes.flatMap(({ lines }) => lines).join("\n")).toContain(what);
  };
  return { call, heard };
}

const ID = { runId: "r", toolCallId: "c" };

describe("a tool call that one sandboxed plugin has asked about", () => {
  it.each([
    ["asks about it, too", "asks", '"second" asks the user about this call, and "first" asked'],
    ["changes its parameters", "changes", '"second" changes the parameters of this call, and "first" asked'],
  ] as const)(
    "is blocked in the name of both when another %s, and the first hears that its question is cancelled",
    async (_, what, said) => {
      const { call, heard } = await two("asks", what);
      const [asked, late] = await call(ID);
      expect(asked!.requireApproval!.title).toBe("first asks");
      expect(late).toEqual({ block: true, blockReason: expect.stringContaining(said) as string });
      expect(late!.blockReason).toContain("To allow such calls, change the settings of one of the two");
      await heard("first heard cancelled");
      if (what === "asks") await heard("second heard cancelled");
    },
  );

  it("is blocked without an id, too", async () => {
    const { call } = await two("asks", "asks");
    const calls = await Promise.all([call({}), call({})]);
    expect(calls.map(([, late]) => late?.block)).toEqual([true, true]);
    for (const [asked] of calls) asked!.requireApproval!.onResolution("deny");
  });

  it("goes on when the other repeats the parameters as they were", async () => {
    const { call } = await two("asks", "repeats");
    const [asked, other] = await call(ID);
    expect([asked!.requireApproval!.title, other!.block]).toEqual(["first asks", undefined]);
    asked!.requireApproval!.onResolution("deny");
  });

  it("and that the other blocks has its question cancelled at once", async () => {
    const { call, heard } = await two("asks", "blocks");
    expect((await call(ID))[1]).toMatchObject({ block: true, blockReason: "no" });
    await heard("first heard cancelled");
  });

  it("leaves other calls alone, and the same one once it was answered", async () => {
    const { call, heard } = await two("asksOnce", "asks");
    expect((await call(ID))[1]!.block).toBe(true);
    await heard("first heard cancelled");
    for (const ids of [{ ...ID, toolCallId: "d" }, ID]) {
      const [, asked] = await call(ids, 2);
      expect(asked!.requireApproval!.title).toBe("second asks");
      asked!.requireApproval!.onResolution("deny");
    }
  });

  it("changes made before the question are OpenClaw's to show, and nothing is blocked", async () => {
    const { call, heard } = await two("changes", "asks");
    const [changed, asked] = await call(ID);
    expect(changed!.params).toEqual({ n: 1, changed: true });
    asked!.requireApproval!.onResolution("allow-once");
    await heard("second heard allow-once");
  });
});

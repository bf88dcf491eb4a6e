/** Facts 79 to 85: hooks whose first claim wins. */
import { expect, it } from "vitest";
import { targetedClaim } from "creel";
import { agentReply } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, plugin, statuses } from "../support/host.ts";
import { dispatch, inbound, pair, player, replyDispatch } from "./stage.ts";

const CLAIMS = ["before_agent_reply", "inbound_claim", "before_dispatch", "reply_dispatch"] as const;
const HANDLED = `return { handled: true, queuedFinal: true, counts: { tool: 0, block: 0, final: 1 } }`;

contract("facts: claims", (isolation) => {
  const shared = pair(isolation, CLAIMS, {
    plugins: [
      player("cron", ["before_agent_reply"], { priority: -1, options: { eligibleTriggers: ["cron"] } }),
      plugin("silent", ""),
      plugin("twice", `for (const n of ["one", "two"]) api.on("inbound_claim", () => { throw new Error(n + "\\nand more"); });`),
    ],
  });
  const runs = {
    before_agent_reply: (script: Script) => shared.host.run("before_agent_reply", agentReply(script), { trigger: "user" }),
    inbound_claim: (script: Script) => shared.host.run("inbound_claim", inbound(script)),
    before_dispatch: (script: Script) => shared.host.run("before_dispatch", dispatch(script)),
    reply_dispatch: (script: Script) => shared.host.run("reply_dispatch", replyDispatch(script)),
  };
  /** How the four hooks end with a script: by whom they were claimed, and whether b was called. */
  const claimed = async (script: Script) =>
    Promise.all(
      CLAIMS.map(async (hook) => {
        const outcome = await runs[hook](script);
        return [outcome.decision, outcome.by, outcome.result === undefined, statuses(outcome).find((status) => status.startsWith("b:"))];
      }),
    );
  const replying = (trigger: string) => shared.host.run("before_agent_reply", agentReply({ cron: HANDLED }), { trigger });
  const four = (ending: unknown[]) => CLAIMS.map(() => ending);

  it("79. the first handled: true wins, and the next handler is not called", async () => {
    expect(await claimed({ a: HANDLED, b: HANDLED })).toEqual(four(["handled", "a", false, "b:skipped"]));
  });

  it("80. handled: false leaves it to the next", async () => {
    expect(await claimed({ a: `return { handled: false }`, b: HANDLED })).toEqual(four(["handled", "b", false, "b:ok"]));
  });

  it("82. when nobody claims, there is no result", async () => {
    expect(await claimed({ a: `return { handled: false }` })).toEqual(four(["pass", undefined, true, "b:ok"]));
  });

  it("83. a claim asked of one plugin is handled, declined, an error, or has no handler or no plugin; others are not called", async () => {
    const ask = (id: string, script: Script = {}) => targetedClaim(shared.host, "inbound_claim", id, inbound({ b: HANDLED, ...script }));
    expect(await ask("nobody")).toEqual({ status: "missing_plugin" });
    expect(await ask("silent")).toEqual({ status: "no_handler" });
    expect(await ask("a")).toEqual({ status: "declined" });
    expect(await ask("a", { a: HANDLED })).toEqual({ status: "handled", result: { handled: true } });
    expect(await ask("twice")).toEqual({ status: "error", error: "the handler threw: one and more" });
    const outcome = await shared.host.run("inbound_claim", inbound({ a: HANDLED }), undefined, { plugin: "b" });
    expect(statuses(outcome)).toEqual(["b:ok"]);
  });

  it("84. overridden: claims have a budget like every awaited hook, because nothing may wait for ever", () => {
    const budgets = new Map(shared.host.inspect("a").hooks.map(({ hook, budget }) => [hook, budget.wallMs]));
    for (const hook of CLAIMS) expect(budgets.get(hook)).toEqual({ value: 15_000, origin: "catalog" });
  });

  it("85. a handler for certain triggers is not called for others", async () => {
    expect(statuses(await replying("user"))).toContain("cron:skipped");
    expect(await replying("cron")).toMatchObject({ decision: "handled", by: "cron" });
  });
});

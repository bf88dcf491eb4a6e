/** Facts 58, 59 and 62: a prompt build inside a prompt build, and a handler that outlives its call. */
import { expect, it } from "vitest";
import type { Host, Outcome, SessionPatch } from "creel";
import { ask, prompt, sending } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, plugin, sharedHost, statuses } from "../support/host.ts";
import { player } from "./stage.ts";

/** Makes the gateway start what the label says, by a patch, the only way out of a cell. */
const start = (what: string) => `api.session.patch({ key: "k", label: "${what}" })`;
const HELD = `(() => { try { state.held.assertActive(); return "active"; } catch (error) { return error.message; } })()`;
const OVER = "this call of the hook's handler is over";

/** Whether the invocation of its first handler is over while the second one's is not. */
const TWO = plugin(
  "two",
  `let first;
   api.on("before_prompt_build", (event, ctx) => void (first = ctx.hookInvocation), { priority: 2 });
   api.on("before_prompt_build", (event, ctx) => {
     ctx.hookInvocation.assertActive();
     if (event.do?.two !== "compare") return;
     try { first.assertActive(); } catch (error) { return { appendContext: error.message }; }
   }, { priority: 1 });`,
  { hooks: { allowConversationAccess: true } },
);

contract("facts: prompt builds that nest or outlive their call", (isolation) => {
  const inner: Outcome[] = [];
  const gateway = {
    /** As a gateway's own code might: a patch leads to further hooks. */
    patchSession: async ({ label }: SessionPatch) => {
      if (label === "later") await over;
      if (label === "message")
        inner.push(await shared.host.run("message_sending", sending({ b: `return { content: "inner" }` }), { channelId: "chat" }));
      else inner.push(await (label === "elsewhere" ? elsewhere : shared).host.run("before_prompt_build", prompt(INNER)));
      started?.resolve();
      return { sessionEntry: {} };
    },
  };
  const INNER = { b: `return { systemPrompt: "inner" }` };
  let over: Promise<unknown> | undefined;
  let started: PromiseWithResolvers<void> | undefined;

  const on = ["before_prompt_build"];
  const a = { ...player("a", on, { priority: 10, options: { timeoutMs: 1000 } }), grants: { session: ["patch" as const] } };
  const shared: { readonly host: Host } = sharedHost(isolation, { gateway, plugins: [a, player("b", on), TWO] });
  const elsewhere = sharedHost(isolation, { plugins: [player("b", on)] });
  const build = (script: Script) => shared.host.run("before_prompt_build", prompt(script));
  const held = () => ask(shared.host, "a", HELD);
  const caused = async (what: string) => {
    inner.length = 0;
    await build({ a: `async await ${start(what)}` });
    return inner[0]!;
  };

  it("58. a prompt build that a handler of one causes calls nobody and has no result", async () => {
    const nested = await caused("build");
    expect(nested).toMatchObject({ decision: "pass", result: undefined });
    expect(statuses(nested)).toEqual(["a:recursion", "two:recursion", "two:recursion", "b:recursion"]);
    expect(nested.calls[0]?.error?.code).toBe("ERR_RECURSION_NESTED");
  });

  it("59. other hooks, other hosts, and what is caused after the outer run is over are not suppressed", async () => {
    expect((await caused("message")).result).toEqual({ content: "inner" });
    expect((await caused("elsewhere")).result).toEqual({ systemPrompt: "inner" });
    inner.length = 0;
    started = Promise.withResolvers();
    over = build({ a: `void ${start("later")}` });
    await started.promise;
    expect(inner[0]?.result).toEqual({ systemPrompt: "inner" });
  });

  it("62. assertActive works while the handler runs, and throws once it has returned, thrown or timed out, for each handler alone", async () => {
    const hold = `state.held = ctx.hookInvocation; state.held.assertActive();`;
    expect(statuses(await build({ a: `${hold} return {}` }))).toContain("a:ok");
    expect(await held()).toBe(OVER);
    expect(statuses(await build({ a: `async ${hold} await null; state.held.assertActive(); return {}` }))).toContain("a:ok");
    expect(await held()).toBe(OVER);
    const thrown = await build({ a: `${hold} throw new Error("thrown")` });
    expect(thrown.calls[0]?.error?.message).toContain("thrown");
    expect(await held()).toBe(OVER);
    const hanging = build({ a: `async ${hold} await new Promise(() => {})` });
    expect(await held()).toBe("active");
    expect(statuses(await hanging)).toContain("a:timeout");
    expect(await held()).toBe(OVER);
    expect((await build({ two: "compare" })).result).toEqual({ appendContext: OVER });
  });
});

/** What OpenClaw passes live does not enter a cell, except as the catalog says; see test/protocol/live.test.ts for the list. */
import { expect, it } from "vitest";
import { ask, prompt, toolCall } from "../support/actors.ts";
import { contract } from "../support/host.ts";
import { pair, replyDispatch } from "./stage.ts";

const HOOKS = ["before_tool_call", "reply_dispatch", "gateway:startup", "llm_input", "before_prompt_build", "before_reset"];
const fn = () => "live";

contract("live things", (isolation) => {
  const shared = pair(isolation, HOOKS);
  const saw = () => ask(shared.host, "a", "state.saw");
  const note = { a: `state.saw = ctx` };

  it("signals, services and functions of a context are left out", async () => {
    const toolContext = { toolName: "exec", abortSignal: new AbortController().signal, getSessionExtension: fn };
    await shared.host.run("before_tool_call", toolCall(note, {}, "exec"), toolContext);
    expect(await saw()).toEqual({ toolName: "exec" });
    const dispatchContext = {
      dispatchKind: "agent" as const,
      dispatcher: { send: fn },
      recordProcessed: fn,
      markIdle: fn,
      onReplyStart: fn,
    };
    await shared.host.run("reply_dispatch", replyDispatch(note), dispatchContext);
    expect(await saw()).toEqual({ dispatchKind: "agent" });
    await shared.host.run(
      "before_reset",
      { do: note },
      { runId: "r", hookInvocation: { assertActive: fn }, toolAuthority: { allows: fn } },
    );
    expect(await saw()).toEqual({ runId: "r" });
  });

  it("the gateway's hookInvocation is replaced by the cell's own", async () => {
    const hookInvocation = { assertActive: () => void fn(), secret: 1 };
    const script = { a: `state.saw = Object.keys(ctx.hookInvocation); ctx.hookInvocation.assertActive()` };
    const outcome = await shared.host.run("before_prompt_build", prompt(script), { hookInvocation });
    expect(outcome.calls[0]).toMatchObject({ plugin: "a", status: "ok" });
    expect(await saw()).toEqual(["assertActive"]);
  });

  it("functions inside an event are left out, and the data around them stays", async () => {
    await shared.host.run("llm_input", {
      runId: "r",
      sessionId: "s",
      provider: "p",
      model: "m",
      prompt: "",
      historyMessages: [],
      imagesCount: 0,
      tools: [{ name: "exec", execute: fn }],
      do: { a: `state.saw = event.tools` },
    });
    expect(await saw()).toEqual([{ name: "exec" }]);
    const context = { workspaceDir: "/w", deps: { secret: 1, call: fn } };
    const event = { type: "gateway" as const, action: "startup" as const, sessionKey: "", context };
    await shared.host.run("gateway:startup", { ...event, do: { a: `state.saw = event.context` } });
    expect(await saw()).toEqual({ workspaceDir: "/w" });
  });
});

/** A host in another process that is away: the hook's failure policy decides, at once, and nothing rejects that a gateway could swallow. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { thrownBy } from "../support/errors.ts";
import { plugin, silent } from "../support/host.ts";
import { served } from "../support/serve.ts";

const PLUGINS = [
  plugin("guard", `api.on("before_tool_call", () => new Promise(() => {})); api.on("inbound_claim", () => {});`),
  plugin("watch", `api.on("agent_end", () => {});`, { hooks: { allowConversationAccess: true } }),
  plugin("strict", `api.on("message_sending", () => {}); api.on("before_message_write", () => {});`, { required: true }),
  plugin("keeper", `api.on("tool_result_persist", () => {});`),
];
const tool = { toolName: "rm", params: {} };
const config = { sandbox: { spare: false, walls: "none" }, hooks: { failure: { before_install: "open" } } } as const;

let host: Host;
beforeAll(async () => {
  const server = await served({ plugins: PLUGINS, config });
  host = await openHost({ connect: server.socket, logger: silent });
  await server.close();
});
afterAll(() => host.close());

describe("a host that is away", () => {
  it("a gate that fails closed is blocked, as terminal as a plugin's block", async () => {
    const outcome = await host.run("before_tool_call", tool);
    expect(outcome).toMatchObject({
      decision: "block",
      result: { block: true, blockReason: expect.stringContaining("no host answers") },
      calls: [],
      unreachable: { why: expect.stringContaining("no host answers") },
    });
  });

  // The host does so every second, to see whether the program has anything left to do.
  it("ref and unref leave no listener behind on a connection that has ended", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    for (let n = 0; n < 30; n++) {
      host.unref();
      host.ref();
    }
    // Node emits a warning in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  it("a required plugin's hooks block, what nobody listened to and observe hooks pass, and each says so", async () => {
    expect(await host.run("message_sending", { to: "me", content: "x" }, { channelId: "c" })).toMatchObject({
      decision: "cancel",
      unreachable: {},
    });
    expect(await host.run("agent_end", { messages: [], success: true })).toMatchObject({ decision: "pass", unreachable: {} });
    expect(await host.run("before_agent_run", { prompt: "x" } as never)).toMatchObject({ decision: "pass", unreachable: {} });
  });

  it("a run for one plugin goes by that plugin", async () => {
    expect(await host.run("before_tool_call", tool, undefined, { plugin: "guard" })).toMatchObject({ decision: "block", by: "guard" });
    expect(await host.run("before_tool_call", tool, undefined, { plugin: "nobody" })).toMatchObject({ decision: "block", by: "nobody" });
  });

  it("runSync follows the policy too, and emit does not throw", () => {
    expect(host.runSync("before_message_write", { message: { role: "user", content: "x" } })).toMatchObject({
      decision: "block",
      result: { block: true },
      unreachable: { why: expect.stringContaining("runSync") },
    });
    expect(host.runSync("tool_result_persist", { message: {} })).toMatchObject({ decision: "pass", unreachable: {} });
    expect(thrownBy(() => host.runSync("before_tool_call" as never, tool as never))).toMatchObject({ code: "ERR_HOOK_KIND" });
    expect(() => host.emit("agent_end", { messages: [], success: true })).not.toThrow();
  });

  it("the caller's own mistakes still reject", async () => {
    await using server = await served({ plugins: PLUGINS, config });
    await using joined = await openHost({ connect: server.socket, logger: silent });
    await expect(joined.run("before_tool_call", { toolName: 7 } as never)).rejects.toMatchObject({ code: "ERR_EVENT_INVALID" });
    const stop = new AbortController();
    const running = joined.run("before_tool_call", tool, undefined, { signal: stop.signal });
    stop.abort(new Error("mine"));
    await expect(running).rejects.toThrow("mine");
    await joined.close();
    await expect(joined.run("before_tool_call", tool)).rejects.toMatchObject({ code: "ERR_HOST_CLOSED" });
  });

  it("a host that has too much to do counts as away", async () => {
    await using server = await served({ plugins: PLUGINS, config });
    await using joined = await openHost({ connect: server.socket, logger: silent });
    const stop = new AbortController();
    const waiting = Array.from({ length: LIMITS.serve.pending }, () =>
      joined.run("before_tool_call", tool, undefined, { signal: stop.signal }).catch(() => {}),
    );
    expect(await joined.run("before_tool_call", tool)).toMatchObject({
      decision: "block",
      unreachable: { why: expect.stringContaining("pending") },
    });
    stop.abort();
    await Promise.all(waiting);
  });
});

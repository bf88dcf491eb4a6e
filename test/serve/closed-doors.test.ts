/** Guards that are not there, through the socket: the doors that are shut in the host are shut for a gateway that has joined it. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHost } from "creel";
import { creelHere } from "../support/cli-in-process.ts";
import { folder } from "../support/files.ts";
import { plugin, silent, statuses } from "../support/host.ts";
import { socketPath, served } from "../support/serve.ts";

const BROKEN = { id: "broken-guard", source: "export default {{{" };
const CALL = { toolName: "exec", params: {} };
const listed = () =>
  folder({ "creel.plugin.json": JSON.stringify({ id: "listed", hooks: ["before_tool_call"] }), "index.ts": "export default {{{" });

const config = (path: string) => ({ "creel.json": JSON.stringify({ plugins: { load: { paths: [path] } }, sandbox: { spare: false } }) });

describe("a host that is served", () => {
  it("does not start with a plugin whose hooks are not known, unless that is allowed", async () => {
    await expect(served({ plugins: [BROKEN] })).rejects.toMatchObject({ code: "ERR_PLUGINS_FAILED", params: { ids: "broken-guard" } });
    await using server = await served({ plugins: [BROKEN], allowFailed: true });
    await using remote = await openHost({ connect: server.socket, logger: silent });
    const out = await remote.run("before_tool_call", CALL);
    expect([out.decision, statuses(out)]).toEqual(["pass", ["broken-guard:failed"]]);
  });

  it("keeps the doors shut that are known, and those of a required plugin", async () => {
    const filter = plugin("filter", `api.on("before_prompt_build", () => { throw new Error("no rules"); });`, {
      required: true,
      hooks: { allowConversationAccess: true },
    });
    await using server = await served({ plugins: [{ path: listed() }, filter] });
    await using remote = await openHost({ connect: server.socket, logger: silent });
    expect(await remote.run("before_tool_call", CALL)).toMatchObject({ decision: "block", by: "listed", calls: [{ status: "failed" }] });
    expect(await remote.run("before_prompt_build", { prompt: "p", messages: [] })).toMatchObject({
      decision: "block",
      by: "filter",
      reason: expect.stringContaining("no rules"),
      result: undefined,
    });
    expect(remote.inspect("filter")).toMatchObject({ isRequired: true, hooks: [{ ifItFails: "the prompt is not built" }] });
  });

  it("takes a context that is left out from the event, and refuses one that it cannot make", async () => {
    const tells = plugin(
      "tells",
      `api.on("before_tool_call", (event, ctx) => ({ block: true, blockReason: JSON.stringify(ctx) })); api.on("message_sending", () => {});`,
    );
    await using server = await served({ plugins: [tells] });
    await using remote = await openHost({ connect: server.socket, logger: silent });
    expect((await remote.run("before_tool_call", { ...CALL, runId: "r" })).reason).toBe(`{"toolName":"exec","runId":"r"}`);
    await expect(remote.run("message_sending", { to: "me", content: "x" })).rejects.toMatchObject({ code: "ERR_CONTEXT_INVALID" });
    await expect(remote.run("before_tool_call", CALL, { toolName: "ls" })).rejects.toMatchObject({ code: "ERR_CONTEXT_INVALID" });
  });
});

describe("the commands", () => {
  it("creel serve names the plugins that keep it from starting, and what allows it", async () => {
    const where = folder({ ...config("./guard.ts"), "guard.ts": "export default {{{" });
    const { code, err } = await creelHere(
      "serve",
      "--config",
      join(where, "creel.json"),
      "--socket",
      socketPath(),
      "--isolation",
      "thread",
    );
    expect([code, err]).toEqual([1, expect.stringContaining('"guard" (the plugin could not be bundled')]);
    expect(err).toContain("creel serve --allow-failed");
  });

  it("creel call runs the hook all the same: the plugin is told of, and is a line in the outcome", async () => {
    const where = folder({ ...config("./guard.ts"), "guard.ts": "export default {{{" });
    const args = [
      "call",
      "before_tool_call",
      "--config",
      join(where, "creel.json"),
      "--isolation",
      "thread",
      "--event",
      JSON.stringify(CALL),
    ];
    const { code, out, err } = await creelHere(...args, "--json");
    expect([code, err]).toEqual([0, expect.stringContaining("guard")]);
    expect(JSON.parse(out)).toMatchObject({ decision: "pass", calls: [{ plugin: "guard", status: "failed" }] });
  });
});

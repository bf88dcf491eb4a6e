/** A replay reaches no server by any way: requests, connections and WebSockets of a plugin that was granted them fail, and say why. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { rerun } from "../../src/replay/rerun.ts";
import { folder } from "../support/files.ts";
import { open } from "../support/host.ts";

it("what a plugin may reach in the gateway is not reached in a replay: nothing connects", async () => {
  let connections = 0;
  await using server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {});
    socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const target = `127.0.0.1:${port}`;
  const source = `
    const tries = {
      fetch: () => fetch("http://${target}/"),
      connect: () => new Promise((done, failed) => {
        const { createConnection } = process.getBuiltinModule("node:net");
        createConnection({ host: "127.0.0.1", port: ${port} }).on("error", failed).on("close", done);
      }),
      socket: () => new Promise((done, failed) => {
        const socket = new WebSocket("ws://${target}/");
        socket.onerror = () => failed(new Error("error"));
        socket.onclose = done;
      }),
    };
    export default (api) => {
      api.on("before_tool_call", async (event) => {
        const said = await tries[event.toolName]().then(() => "ended", (error) => error.message);
        return { block: true, blockReason: said };
      });
    };`;
  const plugins = [{ id: "caller", source, grants: { fetch: [`http://${target}`], connect: [target] } }];
  await using host = await open("thread", { plugins });
  const setup = { config: { sandbox: { walls: "none" } }, base: folder({}), stateDir: undefined, plugins, isolation: "thread" } as const;
  for (const toolName of ["fetch", "connect", "socket"]) {
    const event = { toolName, params: {} };
    // For real, it gets through to the server, which hangs up: this test can fail.
    await host.run("before_tool_call", event);
    expect([toolName, connections]).toEqual([toolName, 1]);
    const recorded = {
      v: 1,
      at: 0,
      runId: "h1-1",
      hook: "before_tool_call",
      event,
      context: { toolName },
      decision: "block",
      calls: [],
    } as const;
    const { outcome } = await rerun(recorded as never, setup, event);
    expect([toolName, connections, outcome.reason]).toEqual([toolName, 1, expect.stringMatching(/this is a replay|no network|error/)]);
    connections = 0;
  }
});

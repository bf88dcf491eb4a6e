/** HTTP hooks on loopback: an agent's request is judged, a stranger's is refused before anything is read or done, and what cannot be judged is denied. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import type { OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Served } from "../../src/serve/server.ts";
import { plugin, recorder } from "../support/host.ts";
import { served, socketPath } from "../support/serve.ts";

const GUARD = plugin(
  "guard",
  `api.on("before_tool_call", ({ params }, ctx) => {
    if (params.command === "rm") return { block: true, blockReason: "not from " + ctx.gateway };
    if (params.command === "curl") return { requireApproval: { title: "Network", description: "it leaves the machine" } };
  });`,
);
const { logger, lines } = recorder();
const PATH = "/hook/claude-code/PreToolUse";
const tool = (command: string): string =>
  JSON.stringify({ hook_event_name: "PreToolUse", session_id: "s", tool_name: "Bash", tool_input: { command } });

let server: Served;
let port: number;
let token: string;
beforeAll(async () => {
  server = await served({ plugins: [GUARD], logger, http: 0 });
  port = Number(new URL(server.http!.url).port);
  token = readFileSync(server.http!.tokenFile, "utf8").trim();
});
afterAll(() => server.close());
beforeEach(() => void lines.splice(0));

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

function send({ method = "POST", path = PATH, headers = {}, body = "" }: Sent): Promise<{ status: number; headers: object; text: string }> {
  return new Promise((resolve, reject) => {
    const all = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}`, ...headers };
    const sent = request({ port, method, path, headers: all, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
const denied = (reason: unknown): object => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: reason },
});

describe("an agent's request", () => {
  it("is judged, and answered in the agent's format", async () => {
    const blocked = await send({ body: tool("rm") });
    expect([blocked.status, JSON.parse(blocked.text)]).toEqual([200, denied("Creel, plugin guard: not from claude-code")]);
    expect(JSON.parse((await send({ body: tool("ls"), headers: { host: `localhost:${port}` } })).text)).toEqual({});
    const asked = await send({ body: tool("curl") });
    expect(JSON.parse(asked.text)).toMatchObject({ hookSpecificOutput: { permissionDecision: "ask" } });
  });

  it.each([
    ["is not JSON", "{"],
    ["is empty", ""],
    ["names no tool", "{}"],
    ["is too large", Buffer.alloc(LIMITS.serve.hookBytes + 1, " ")],
  ])("whose body %s is denied, not failed: agents run the tool after a failure", async (_, body) => {
    const { status, text } = await send({ body });
    expect([status, JSON.parse(text)]).toEqual([200, denied(expect.stringContaining("sent something that Creel cannot read"))]);
    expect(lines).toMatchObject([{ level: "warn", message: "http hook not judged" }]);
  });

  it("whose body does not arrive is denied in time, and hung up on", { timeout: 20_000 }, async () => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\ncontent-length: 99\r\n\r\n{`);
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n.*"permissionDecision":"deny".*did not arrive within 5000 ms/s);
  });
});

describe("anyone else's", () => {
  it.each<[string, Sent, number]>([
    ["without a token", { headers: { authorization: "" } }, 401],
    ["with a wrong token", { headers: { authorization: `Bearer ${"x".repeat(43)}` } }, 401],
    ["with the token's beginning", { headers: { authorization: "Bearer " } }, 401],
    ["for another host's name", { headers: { host: "creel.example:80" } }, 421],
    ["for this address without the port", { headers: { host: "127.0.0.1" } }, 421],
    ["from a page, even with the token", { headers: { origin: "http://127.0.0.1:8080" } }, 403],
    ["from a page that hides its origin", { headers: { "sec-fetch-site": "same-origin" } }, 403],
    ["that asks for CORS", { method: "OPTIONS", headers: { origin: "null", "access-control-request-method": "POST" } }, 403],
    ["of another method", { method: "GET" }, 405],
    ["of another agent", { path: "/hook/emacs/PreToolUse" }, 404],
    ["of another event", { path: "/hook/claude-code/toString" }, 404],
    ["of a path above", { path: "/hook/claude-code/../PreToolUse" }, 404],
  ])("%s is refused", async (_, sent, status) => {
    const answer = await send({ body: tool("rm"), ...sent });
    expect([answer.status, answer.text]).toEqual([status, ""]);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(lines).toMatchObject([{ level: "warn", message: "http request refused", fields: { status } }]);
  });

  it("with a huge body and no token is refused before the body is read", async () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: 1000000000000\r\n\r\n`);
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1.1 401 /);
  });
});

it("the token is its owner's alone and stays over a restart; a port in use is said by name", async () => {
  const socket = socketPath();
  const first = await served({ socket, http: 0 });
  const { tokenFile } = first.http!;
  const kept = readFileSync(tokenFile, "utf8");
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
  await first.close();
  await expect(served({ socket, http: port })).rejects.toMatchObject({ code: "ERR_SERVE_HTTP" });
  expect(existsSync(socket)).toBe(false);
  const second = await served({ socket, http: 0 });
  expect(readFileSync(tokenFile, "utf8")).toBe(kept);
  await second.close();
});

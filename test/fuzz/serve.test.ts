/** Frames of a client of `creel serve`, damaged: each is answered as the protocol has it, or the client is hung up on with an error by name; other clients are served meanwhile. */
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import { SERVE_PROTOCOL, serverFrame } from "../../src/protocol/serve.ts";
import type { Served } from "../../src/serve/server.ts";
import { plugin, silent } from "../support/host.ts";
import { RawClient, served } from "../support/serve.ts";
import { demand, fuzz, fuzzing } from "./fuzz.ts";
import { bent, damaged } from "./mutations.ts";

const FRAMES = [
  { id: 1, method: "run", params: { hook: "message_sending", event: { to: "me", content: "x" }, ctx: {} } },
  { id: 2, method: "run", params: { hook: "before_tool_call", event: { toolName: "exec", params: { n: 1 } } }, cause: "x" },
  { id: "three", method: "has", params: { hook: "message_sending" } },
  { id: 4, method: "subscribe", params: { facts: ["run", "call"] } },
  { id: 5, method: "inspect", params: { plugin: "echo" } },
  { id: 6, method: "call", params: { target: { kind: "tool", name: "t" }, argument: {} } },
  { method: "emit", params: { hook: "session:end", event: {} } },
  { id: 8, method: "approvals" },
  { answer: 1, ok: "allow-once" },
  { answer: 1, error: { message: "no" } },
  { cancel: 1 },
  { hello: { protocol: SERVE_PROTOCOL, token: "x".repeat(43), offers: ["getSession"], state: true } },
];
/** It would end what all cases share. */
const ENDING = /"(?:close|disable|reload|release)"/;

const line = fc
  .oneof(
    damaged(FRAMES.map((frame) => JSON.stringify(frame))),
    bent(FRAMES).map((frame) => JSON.stringify(frame) ?? ""),
  )
  .filter((text) => !ENDING.test(text));
const session = fc.record({ isWelcome: fc.boolean(), lines: fc.array(line, { minLength: 1, maxLength: 6 }) });

let server: Served;
let neighbour: Host;
beforeAll(async () => {
  server = await served({ plugins: [plugin("echo", `api.on("message_sending", (e) => ({ content: e.content }));`)] });
  neighbour = await openHost({ connect: server.socket, logger: silent });
});
afterAll(async () => {
  await neighbour.close();
  await server.close();
});

/** The last request of a session; a client that was hung up on gets no answer to it. */
const LAST = { id: "the last one", method: "has", params: { hook: "message_sending" } };

it("a client's frames are answered by the protocol, or it is hung up on by name; others do not notice", fuzzing("serve"), async () => {
  const cases = await fuzz("serve", session, async ({ isWelcome, lines }) => {
    using raw = isWelcome ? await RawClient.welcome(server.socket) : new RawClient(server.socket);
    const said: unknown[] = [];
    const over = (async () => {
      for (;;) {
        const frame = await raw.any();
        if (frame === undefined) return;
        said.push(frame);
        if (frame.id === LAST.id) return;
      }
    })();
    for (const text of lines) raw.socket.write(`${text.replaceAll("\n", " ")}\n`);
    raw.say(LAST);
    await over;
    for (const frame of said) expect(serverFrame.safeParse(frame).success).toBe(true);
    for (const { error } of said as { error?: { code: string } }[])
      demand(error === undefined || error.code.startsWith("ERR_"), "an error has a code of ours");
    const { result } = await neighbour.run("message_sending", { to: "me", content: "well" }, { channelId: "chat" });
    expect(result?.content).toBe("well");
  });
  expect(cases).toBeGreaterThan(0);
});

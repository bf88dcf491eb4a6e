/** What a tool reports over a socket is bounded: a client that reads slowly is not hung up on because of it, and is told what it missed. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openHost } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { CallUpdates } from "../../src/serve/call-updates.ts";
import type { Served } from "../../src/serve/server.ts";
import type { ServerFrame } from "../../src/protocol/serve.ts";
import { plugin, recorder, silent } from "../support/host.ts";
import { RawClient, served } from "../support/serve.ts";
import type { Frame } from "../support/serve.ts";

const CHATTY = plugin(
  "chatty",
  `api.registerTool({ name: "chat", description: "reports", parameters: { type: "object" }, execute: async (id, { reports, chars }, signal, onUpdate) => {
    for (let at = 0; at < reports; at++) { onUpdate?.({ at, text: "x".repeat(chars) }); if (at % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1)); }
    done();
    return { reports };
  } });
  let done;
  const isDone = new Promise((resolve) => (done = resolve));
  api.registerTool({ name: "wait", description: "waits for the other", parameters: { type: "object" }, execute: () => isDone });
  api.on("message_sending", (e) => ({ content: e.content }));`,
  { limits: { hostCalls: 1_000, gatewayMs: 1_000 }, hooks: { cpuMs: 5_000, timeoutMs: 50_000 } },
);
const { logger, lines } = recorder();

let server: Served;
beforeAll(async () => {
  server = await served({ plugins: [CHATTY], logger });
});
afterAll(() => server.close());

it(
  "190 updates of 250 KB do not cost a client that reads nothing meanwhile its connection, and the answer arrives",
  { timeout: 60_000 },
  async () => {
    using raw = await RawClient.welcome(server.socket);
    raw.socket.pause();
    raw.say({ id: 1, method: "call", params: { target: { tool: "chat" }, argument: { reports: 190, chars: 250_000 }, updates: true } });
    raw.say({
      id: 2,
      method: "run",
      params: { hook: "message_sending", event: { to: "me", content: "well" }, ctx: { channelId: "here" } },
    });
    // Nothing is read until the tool has ended.
    expect(await server.host.call({ tool: "wait" })).toMatchObject({ status: "ok" });
    raw.socket.resume();
    const updates: Frame[] = [];
    const answers = new Map<unknown, unknown>();
    for (let frame = await raw.any(); frame; frame = answers.size < 2 ? await raw.any() : undefined) {
      if ("update" in frame) updates.push(frame);
      if ("id" in frame) answers.set(frame.id, frame.ok);
    }
    expect(answers.get(1)).toMatchObject({ status: "ok" });
    expect(answers.get(2)).toMatchObject({ result: { content: "well" } });
    const dropped = updates.reduce((sum, { dropped: some = 0 }) => sum + Number(some), 0);
    // What the tool had still to report when it ended is not sent: more than so many do not wait for the host at once.
    expect(updates.filter(({ value }) => value !== null).length + dropped).toBeGreaterThan(LIMITS.requests.pending);
    expect(dropped).toBeGreaterThan(0);
    expect(updates.at(-1)).toMatchObject({ dropped: expect.any(Number) as number });
    expect(lines.filter(({ message }) => message === "client disconnected: it does not read")).toEqual([]);
  },
);

/** A client that reads as fast as `waiting` says. */
function updatesTo(waiting: { bytes: number }): { readonly updates: CallUpdates; readonly sent: ServerFrame[] } {
  const sent: ServerFrame[] = [];
  const outlet = {
    get waitingBytes() {
      return waiting.bytes;
    },
    send: (frame: ServerFrame) => void sent.push(frame),
  };
  return { updates: new CallUpdates(outlet, 7), sent };
}

it("while little waits everything is sent, and nothing is said to be missing", () => {
  const { updates, sent } = updatesTo({ bytes: 0 });
  for (const value of [1, null, { a: 2 }]) updates.tell(value);
  updates.end();
  expect(sent).toEqual([
    { update: 7, value: 1 },
    { update: 7, value: null },
    { update: 7, value: { a: 2 } },
  ]);
});

it("while too much waits updates are left out, and the next one says how many", () => {
  const waiting = { bytes: LIMITS.serve.updateBufferBytes };
  const { updates, sent } = updatesTo(waiting);
  for (let at = 0; at < 5; at++) updates.tell(at);
  waiting.bytes = 0;
  updates.tell(5);
  updates.end();
  expect(sent).toEqual([{ update: 7, value: 5, dropped: 5 }]);
});

it("the last one that was left out is sent before the answer, unless it is large", () => {
  const waiting = { bytes: LIMITS.serve.updateBufferBytes };
  const small = updatesTo(waiting);
  for (let at = 0; at < 3; at++) small.updates.tell(at);
  small.updates.end();
  expect(small.sent).toEqual([{ update: 7, value: 2, dropped: 3 }]);
  const large = updatesTo(waiting);
  large.updates.tell("x".repeat(LIMITS.serve.lastUpdateBytes));
  large.updates.end();
  expect(large.sent).toEqual([{ update: 7, value: null, dropped: 1 }]);
});

it("one call reports no more bytes than it may, however fast they are read", () => {
  const { updates, sent } = updatesTo({ bytes: 0 });
  const chunk = "x".repeat(1024 * 1024 - 2);
  for (let at = 0; at < 40; at++) updates.tell(chunk);
  updates.end();
  expect(sent).toHaveLength(LIMITS.serve.updatesBytes / 1024 / 1024 + 1);
  expect(sent.at(-1)).toEqual({ update: 7, value: null, dropped: 40 - LIMITS.serve.updatesBytes / 1024 / 1024 });
});

it("a gateway's onUpdate is told how many were left out", { timeout: 60_000 }, async () => {
  await using remote = await openHost({ connect: server.socket, logger: silent });
  const seen: unknown[] = [];
  let dropped = 0;
  const chars = 250_000;
  // However fast they are read, these are more than one call may report.
  const reports = Math.ceil(LIMITS.serve.updatesBytes / chars) + 20;
  const outcome = await remote.call(
    { tool: "chat" },
    { reports, chars },
    {
      onUpdate: (update, about) => {
        if (update !== null) seen.push(update);
        dropped += about?.dropped ?? 0;
      },
    },
  );
  expect(outcome).toMatchObject({ status: "ok" });
  expect(dropped).toBeGreaterThan(0);
  // As above: what still waits for the host when the tool ends is not sent.
  expect(seen.length + dropped).toBeGreaterThan(LIMITS.requests.pending);
  expect(seen.length + dropped).toBeLessThanOrEqual(reports);
});

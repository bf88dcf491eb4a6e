/** Facts 43 to 52: message_sending and reply_payload_sending. */
import { expect, it } from "vitest";
import { sending } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, statuses } from "../support/host.ts";
import { pair, payload } from "./stage.ts";

const add = (text: string) => `return { payload: { ...event.payload, text: event.payload.text + "${text}" } }`;

contract("facts: message_sending and reply_payload_sending", (isolation) => {
  const shared = pair(isolation, ["reply_payload_sending"]);
  const likeOpenClaw = pair(isolation, ["reply_payload_sending"], { rewrites: "isolated" });
  const send = (script: Script, { host } = shared) => host.run("message_sending", sending(script, "orig"), { channelId: "chat" });
  const reply = (script: Script, given?: Record<string, unknown>, { host } = shared) =>
    host.run("reply_payload_sending", payload(script, given), { channelId: "chat" });

  it("43. the last content wins", async () => {
    expect((await send({ a: `return { content: "a" }`, b: `return { content: "b" }` })).result).toEqual({ content: "b" });
  });

  const saw = { a: `return { content: "a" }`, b: `return { cancelReason: event.content }` };

  it("44. overridden: a later handler sees the rewritten content", async () => {
    expect((await send(saw)).result).toEqual({ content: "a", cancelReason: "a" });
  });

  it("44. rewrites isolated: a later handler sees the original content", async () => {
    expect((await send(saw, likeOpenClaw)).result).toEqual({ content: "a", cancelReason: "orig" });
  });

  it("45. cancel ends the run with its content, and the next handler is not called", async () => {
    const outcome = await send({ a: `return { cancel: true, content: "g" }`, b: `return { cancel: false, content: "m" }` });
    expect(outcome).toMatchObject({ decision: "cancel", by: "a", result: { cancel: true, content: "g" } });
    expect(statuses(outcome)).toEqual(["a:ok", "b:skipped"]);
  });

  it("46. a later cancel keeps the earlier content, and carries its reason and metadata", async () => {
    const outcome = await send({ a: `return { content: "a" }`, b: `return { cancel: true, cancelReason: "r", metadata: { m: 1 } }` });
    expect(outcome).toMatchObject({ decision: "cancel", by: "b", reason: "r" });
    expect(outcome.result).toEqual({ content: "a", cancel: true, cancelReason: "r", metadata: { m: 1 } });
  });

  it("47. cancel: false is no decision", async () => {
    const outcome = await send({ a: `return { cancel: false }` });
    expect(outcome).toMatchObject({ decision: "pass", by: undefined });
    expect(statuses(outcome)).toEqual(["a:ok", "b:ok"]);
  });

  it("50. payloads chain, with isolated rewrites too", async () => {
    const script = { a: add("+A"), b: add("+B") };
    expect((await reply(script)).result).toEqual({ payload: { text: "o+A+B" } });
    expect((await reply(script, undefined, likeOpenClaw)).result).toEqual({ payload: { text: "o+A+B" } });
  });

  it("51. cancel ends the run, and the payload stays the current one", async () => {
    const outcome = await reply({ a: add("+A"), b: `return { cancel: true, reason: "r" }` });
    expect(outcome).toMatchObject({ decision: "cancel", by: "b", reason: "r", result: { payload: { text: "o+A" } } });
  });

  it("52. the trust flag is neither seen nor granted", async () => {
    const script = {
      a: `return { payload: { text: String("trustedLocalMedia" in event.payload), trustedLocalMedia: true } }`,
      b: `return { payload: { ...event.payload, text: event.payload.text + "," + ("trustedLocalMedia" in event.payload) } }`,
    };
    const outcome = await reply(script, { text: "o", trustedLocalMedia: true });
    expect(outcome.result).toEqual({ payload: { text: "false,false" } });
  });
});

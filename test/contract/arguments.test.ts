/** Every handler gets its event and its context, however it takes them. */
import { expect, it } from "vitest";
import { contract, plugin, sharedHost } from "../support/host.ts";

const WAYS = {
  "two parameters": `(e, c) => ({ content: e.content + c.channelId })`,
  "a default for the second": `(e, c = {}) => ({ content: e.content + c.channelId })`,
  "the rest": `(e, ...[c]) => ({ content: e.content + c.channelId })`,
  "all as one": `(...args) => ({ content: args[0].content + args[1].channelId })`,
  arguments: `function () { return { content: arguments[0].content + arguments[1].channelId }; }`,
  "a method": `({ on(e) { return { content: e.content + arguments[1].channelId }; } }).on`,
  patterns: `({ content }, { channelId }) => ({ content: content + channelId })`,
  "a proxy": `new Proxy((e) => e, { apply: (target, self, [e, c]) => ({ content: e.content + c.channelId }) })`,
  "an async function": `async (e, c) => ({ content: e.content + c.channelId })`,
  "one parameter only": `(e) => ({ content: e.content + "telegram" })`,
  "none at all": `() => ({ content: "hi telegram" })`,
} as const;

contract("arguments", (isolation) => {
  const shared = sharedHost(isolation, {
    plugins: Object.values(WAYS).map((handler, at) => plugin(`way-${at}`, `api.on("message_sending", ${handler});`)),
  });

  it.each(Object.keys(WAYS).map((way, at) => [way, at] as const))("by %s", async (_, at) => {
    const outcome = await shared.host.run(
      "message_sending",
      { to: "x", content: "hi " },
      { channelId: "telegram" },
      { plugin: `way-${at}` },
    );
    expect(outcome.result?.content).toBe("hi telegram");
  });
});

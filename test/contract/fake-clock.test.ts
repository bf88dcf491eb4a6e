/** A gateway's own tests may replace clocks and timers: hooks are answered all the same, one after the other and many at once. */
import { afterEach, expect, it, vi } from "vitest";
import { contract, sharedHost } from "../support/host.ts";

const CALLS = 300;

contract("a gateway whose clocks and timers are fakes", (isolation) => {
  const shared = sharedHost(isolation, {
    plugins: [{ id: "echo", source: `export default (api) => api.on("message_sending", (event) => ({ content: event.content + "!" }))` }],
  });
  afterEach(() => void vi.useRealTimers());

  const send = (content: string): Promise<unknown> =>
    shared.host.run("message_sending", { to: "user", content }, { channelId: "chat" }).then(({ result }) => result?.content);

  it("gets its answers", async () => {
    vi.useFakeTimers();
    for (let at = 0; at < CALLS; at++) expect(await send(String(at))).toBe(`${at}!`);
    const all = await Promise.all(Array.from({ length: CALLS }, (_, at) => send(String(at))));
    expect(all).toEqual(Array.from({ length: CALLS }, (_, at) => `${at}!`));
  });
});

/** A signal that lives as long as the plugin may get a dependent in every call. */
import { expect, it } from "vitest";
import { open, plugin } from "../../../support/host.ts";

it("a source does not keep dependent signals without listeners alive, but those with listeners", async () => {
  const body = `
    const forever = new AbortController();
    let heard = 0;
    AbortSignal.any([forever.signal, new AbortController().signal]).addEventListener("abort", () => { heard += 1; });
    api.on("message_sending", ({ content }) => {
      if (content === "end") { forever.abort(); return { content: String(heard) }; }
      for (let i = 0; i < 500; i++) {
        const signal = AbortSignal.any([forever.signal, new AbortController().signal]);
        const listen = () => {};
        signal.addEventListener("abort", listen);
        signal.removeEventListener("abort", listen);
      }
    });`;
  await using host = await open("process", {
    plugins: [plugin("p", body, { hooks: { cpuMs: 2_000 }, limits: { heapMb: 16, cpuShare: 1 } })],
  });
  for (let call = 0; call < 60; call++) {
    const { calls } = await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" });
    expect([call, ...calls.map(({ status }) => status)]).toEqual([call, "ok"]);
  }
  expect((await host.run("message_sending", { to: "x", content: "end" }, { channelId: "chat" })).result?.content).toBe("1");
});

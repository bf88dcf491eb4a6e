/** A signal that lives as long as the plugin can be followed in every call. */
import { expect, it } from "vitest";
import { open, plugin } from "../../support/host.ts";

it("signals that nobody waits for any more are not kept by what they followed, those that somebody waits for are", async () => {
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
    const { calls } = await host.run("message_sending", { to: "x", content: "" });
    expect([call, ...calls.map(({ status }) => status)]).toEqual([call, "ok"]);
  }
  expect((await host.run("message_sending", { to: "x", content: "end" })).result?.content).toBe("1");
});

/** Helpers of `openclaw/plugin-sdk` that plugins call while their files load. They are plain functions. */
import { expect, it } from "vitest";
import { createPluginRuntimeStore, defineBundledChannelEntry } from "../../../../src/sandbox/guest/sdk/helpers.ts";

it("a store of the runtime gives what was set, and says in the plugin's words that nothing was", () => {
  const store = createPluginRuntimeStore({ errorMessage: "not yet" }) as Record<string, (runtime?: unknown) => unknown>;
  expect(store.tryGetRuntime!()).toBe(null);
  expect(() => store.getRuntime!()).toThrow("not yet");
  store.setRuntime!("runtime");
  expect([store.getRuntime!(), store.tryGetRuntime!()]).toEqual(["runtime", "runtime"]);
  store.clearRuntime!();
  expect(() => store.getRuntime!()).toThrow("not yet");
});

it("a bundled channel registers its tools, although its channel and the file of its runtime are not loaded", () => {
  const called: unknown[] = [];
  const api = { registerChannel: () => called.push("channel"), runtime: {} };
  const entry = defineBundledChannelEntry({
    id: "c",
    plugin: { specifier: "./channel.js", exportName: "channel" },
    setRuntime: { specifier: "./runtime.js" },
    registerFull: (given) => called.push(given === (api as unknown)),
  }) as { id: string; register(api: unknown): void };
  entry.register(api);
  expect([entry.id, ...called]).toEqual(["c", "channel", true]);
});

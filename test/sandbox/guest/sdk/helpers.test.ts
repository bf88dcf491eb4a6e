/** Helpers of `openclaw/plugin-sdk` that plugins call while their files load. They are plain functions. */
import { expect, it } from "vitest";
import * as channel from "../../../../src/sandbox/guest/sdk/channel.ts";
import { createPluginRuntimeStore } from "../../../../src/sandbox/guest/sdk/helpers.ts";

it("a store of the runtime gives what was set, and says in the plugin's words that nothing was", () => {
  const store = createPluginRuntimeStore({ errorMessage: "not yet" }) as Record<string, (runtime?: unknown) => unknown>;
  expect(store.tryGetRuntime!()).toBe(null);
  expect(() => store.getRuntime!()).toThrow("not yet");
  store.setRuntime!("runtime");
  expect([store.getRuntime!(), store.tryGetRuntime!()]).toEqual(["runtime", "runtime"]);
  store.clearRuntime!();
  expect(() => store.getRuntime!()).toThrow("not yet");
});

it("a channel describes itself while its files load, and the description is whole", async () => {
  const base = channel.createChannelPluginBase({ id: "c", meta: { label: "C" }, setup: undefined });
  expect(base).toEqual({ id: "c", meta: { label: "C" } });
  expect(channel.createChatChannelPlugin({ base, outbound: { send: 1 }, security: undefined } as never)).toEqual({
    ...base,
    outbound: { send: 1 },
  });
  expect(channel.getChatChannelMeta()).toBeUndefined();
  const status = channel.createStandardChannelSetupStatus({
    channelLabel: "C",
    configuredLabel: "ready",
    unconfiguredLabel: "not ready",
    configuredScore: 2,
    includeStatusLine: true,
    resolveExtraStatusLines: () => ["more"],
  }) as Record<string, unknown> & { resolveStatusLines(about: object): Promise<unknown> };
  expect([status["configuredScore"], await status.resolveStatusLines({ configured: false })]).toEqual([2, ["C: not ready", "more"]]);
  expect(channel.buildChannelConfigSchema({ toJSONSchema: ({ target }: { target: string }) => target })).toEqual({ schema: "draft-07" });
  expect(channel.buildChannelConfigSchema(undefined)).toEqual({ schema: { type: "object", additionalProperties: true } });
  expect([channel.maxBytesForKind("audio"), channel.maxBytesForKind("toString")]).toEqual([16 * 2 ** 20, 100 * 2 ** 20]);
  const adapter = channel.createComputedAccountStatusAdapter({ defaultRuntime: { running: false }, resolveAccountSnapshot: () => 1 });
  expect(adapter["defaultRuntime"]).toEqual({ running: false });
  expect(() => (adapter["buildAccountSnapshot"] as () => unknown)()).toThrow(
    '"createComputedAccountStatusAdapter" of openclaw/plugin-sdk is not',
  );
  expect(channel.createScopedDmSecurityResolver()).toThrow('"createScopedDmSecurityResolver" of openclaw/plugin-sdk is not');
});

/** A plugin that goes on filling the process's memory when its call was answered long ago, because nobody waits for it any more. */
import { expect, it } from "vitest";
import { openHost } from "creel";
import type { Facts } from "creel";
import { silentLogger } from "../../src/host/report/silent-logger.ts";

/** One built-in function that V8 cannot stop, and that takes memory for as long as it is let. */
const FILLER = `export default (api) => { api.on("message_sending", () => Array(1e9).fill(0).length); };`;
const LIMIT_MB = 256;
/** Longer than it takes to fill that. */
const CPU_MS = 5_000;

it.each([
  ["the host has given up", 50, undefined],
  ["the gateway has cancelled", CPU_MS, 50],
])("is named when it fills the process in a call that %s", { timeout: 60_000 }, async (_, timeoutMs, abortMs) => {
  await using host = await openHost({
    logger: silentLogger,
    config: { sandbox: { spare: false, walls: "none", memoryMb: LIMIT_MB }, limits: { heapMb: 64 } },
    plugins: [{ id: "filler", source: FILLER, hooks: { timeoutMs, cpuMs: CPU_MS } }],
  });
  const restarted = new Promise<Facts["restart"]>((done) => host.on("restart", done));
  const signal = abortMs === undefined ? {} : { signal: AbortSignal.timeout(abortMs) };
  await host.run("message_sending", { to: "x", content: "y" }, { channelId: "chat" }, signal).catch(() => {});
  const { why, culprit } = await restarted;
  expect([culprit, why]).toEqual(["filler", expect.stringMatching(/MB of memory|could not be stopped|SIGSEGV/)]);
});

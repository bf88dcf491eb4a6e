/** A sandbox process that is killed while its memory fills up, as the kernel does it: the lanes' own reports tell which plugin filled it. */
import { expect, it, vi } from "vitest";
import type { Facts, PluginSpec } from "creel";
import { silentLogger } from "../../src/host/report/silent-logger.ts";
import { openHostWith } from "../../src/sdk/open-host.ts";

const LIMIT_MB = 256;
const SAID = /^the sandbox process was ended by SIGKILL while it used 2\d\d of its 256 MB of memory/;

/** Keeps so much for good, at a message with its name. */
const keeps = (id: string, mb: number): PluginSpec => ({
  id,
  source: `const kept = []; export default (api) => { api.on("message_sending", (event) => { if (event.content === "${id}") kept.push(new Uint8Array(${mb} * 2 ** 20).fill(1)); }); };`,
  hooks: { cpuMs: 2_000 },
});

/** What the host says when it is killed after one message to each, each told of by its lane before the next is sent. The size of the process is played, and nothing else. */
async function killedAfter(plugins: Readonly<Record<string, number>>): Promise<Facts["restart"]> {
  let usedMb = 0.6 * LIMIT_MB;
  const tight = Promise.withResolvers<void>();
  let reportedMb = 0;
  const seenFull = Promise.withResolvers<void>();
  await using host = await openHostWith(
    {
      isolation: "process",
      logger: silentLogger,
      config: { sandbox: { spare: false, walls: "none", memoryMb: LIMIT_MB }, limits: { heapMb: 256 } },
      plugins: Object.entries(plugins).map(([id, mb]) => keeps(id, mb)),
    },
    {
      units: (start) => (count) => {
        const unit = start(count);
        return {
          ...unit,
          rssBytes: () => {
            if (usedMb > 0.9 * LIMIT_MB) seenFull.resolve();
            // Not before it runs.
            return unit.rssBytes?.() === undefined ? undefined : usedMb * 2 ** 20;
          },
          tighten: () => {
            unit.tighten?.();
            tight.resolve();
          },
          observe: (events) =>
            unit.observe({
              ...events,
              grown: (growth) => {
                events.grown(growth);
                reportedMb = (growth.bytes + growth.others) / 2 ** 20;
              },
            }),
        };
      },
    },
  );
  await tight.promise;
  const restarted = new Promise<Facts["restart"]>((done) => host.on("restart", done));
  let keptMb = 0;
  for (const [id, mb] of Object.entries(plugins)) {
    await host.run("message_sending", { to: "x", content: id }, { channelId: "chat" });
    keptMb += mb;
    await vi.waitFor(() => expect(reportedMb).toBeGreaterThan(0.8 * keptMb), { timeout: 20_000 });
  }
  usedMb = 0.95 * LIMIT_MB;
  await seenFull.promise;
  process.kill(host.pids()[0]!, "SIGKILL");
  return restarted;
}

it("the plugin that filled it is named", async () => {
  const { why, culprit } = await killedAfter({ small: 1, large: 90 });
  expect([culprit, why]).toEqual(["large", expect.stringMatching(SAID)]);
});

it("two that filled it alike are not, and the host says that it is not known", async () => {
  const { why, culprit } = await killedAfter({ one: 70, other: 60 });
  expect(culprit).toBeUndefined();
  expect(why).toMatch(new RegExp(`${SAID.source}; .* is not known$`));
});

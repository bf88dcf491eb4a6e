/** A plugin that is loading when its sandbox process is lost: it is struck and named only where nobody else can have been the reason. */
import { expect, it } from "vitest";
import type { Facts, Host, PluginSpec } from "creel";
import { silentLogger } from "../../src/host/report/silent-logger.ts";
import type { LaneUnit } from "../../src/host/supervisor/unit.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { openHostWith } from "../../src/sdk/open-host.ts";

const NEIGHBOUR: PluginSpec = {
  id: "neighbour",
  source: `export default (api) => { api.on("message_sending", () => ({ content: "fine" })); };`,
};
/** Says that it is being loaded, and takes until then. */
const slow = (id: string, ms: number): PluginSpec => ({
  id,
  source: `export default async (api) => { console.log("loading"); await new Promise((done) => setTimeout(done, ${ms})); };`,
});

interface Scene extends AsyncDisposable {
  readonly host: Host;
  readonly restarts: Facts["restart"][];
  /** The process is found to be too large, and no plugin has reported that it grew. */
  readonly fill: () => void;
}

/** The neighbour is loaded; the others are not yet, each in a lane of its own. */
async function scene(...others: PluginSpec[]): Promise<Scene> {
  let [latest, full]: (LaneUnit | undefined)[] = [];
  const places = others.map(({ id }, lane) => [id, { lane, enabled: false }]);
  const host = await openHostWith(
    {
      isolation: "process",
      lanes: others.length,
      logger: silentLogger,
      config: { sandbox: { spare: false, walls: "none" }, plugins: { entries: Object.fromEntries(places) } },
      plugins: [NEIGHBOUR, ...others],
    },
    {
      units: (start) => (count) => {
        const unit: LaneUnit = start(count);
        latest = unit;
        const rssBytes = (): number | undefined => (full === unit ? 2 * LIMITS.sandbox.memoryMb * 2 ** 20 : unit.rssBytes?.());
        return { ...unit, rssBytes };
      },
    },
  );
  const restarts: Facts["restart"][] = [];
  host.on("restart", (fact) => restarts.push(fact));
  const fill = (): void => void (full = latest);
  return { host, restarts, fill, [Symbol.asyncDispose]: () => host.close() };
}

/** Until each of so many says that it is being loaded. */
function loading(host: Host, count = 1): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ids = new Set<string>();
  host.on("log", ({ plugin }) => void (ids.add(plugin).size === count && resolve()));
  return promise;
}

const LOSSES: [string, (scene: Scene) => void, string][] = [
  ["another filled the process", ({ fill }) => fill(), "no single plugin explains it"],
  ["the process was killed from outside", ({ host }) => process.kill(host.pids()[0]!, "SIGKILL"), "SIGKILL"],
];

it.each(LOSSES)(
  "a plugin that was loading while %s is not named, not struck and not moved, also the third time",
  async (_, lose, why) => {
    await using stage = await scene(slow("late", 400));
    const { host, restarts } = stage;
    for (let time = 1; time <= 3; time++) {
      const isLoading = loading(host);
      const reloading = host.reload("late");
      await isLoading;
      lose(stage);
      expect(await reloading).toMatchObject({ status: "ready", isSlow: false, circuit: { state: "closed", kills: 0, points: 0 } });
      expect(restarts).toHaveLength(time);
      expect(restarts.at(-1)).toMatchObject({ culprit: undefined, why: expect.stringContaining(why) });
      expect(restarts.at(-1)!.why).toContain("which plugin caused it, if any, is not known");
    }
  },
  60_000,
);

it("of two that were loading when the process crashed neither is named or struck: alone they show which of them was the reason", async () => {
  await using stage = await scene(slow("late", 400), slow("later", 400));
  const { host, restarts } = stage;
  const areLoading = loading(host, 2);
  const reloading = Promise.all([host.reload("late"), host.reload("later")]);
  await areLoading;
  process.kill(host.pids()[0]!, "SIGABRT");
  const clean = { status: "ready", circuit: { state: "closed", kills: 0, points: 0 } };
  expect(await reloading).toMatchObject([clean, clean]);
  expect(restarts).toMatchObject([{ culprit: undefined }]);
}, 60_000);

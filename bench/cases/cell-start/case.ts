// What does a cell cost to start, with the whole of the guest's world in it? Against an isolate with a context and nothing else. Cells start
// when a host opens, when a plugin is reloaded, and after every kill, so it is part of how quickly a gateway is whole again.
import { limitsOf, pluginBudget } from "../../../src/host/plugins/budget.ts";
import { guestCode } from "../../../src/bundler/guest-code.ts";
import { LaneStatus, LANE_STATUS_BYTES } from "../../../src/transport/lane-status.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { GUEST_GLOBALS, GUEST_MODULES } from "../../../src/protocol/guest-surface/surface.ts";
import { Cell, GuestCode } from "../../../src/sandbox/lane/cell/cell.ts";
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { lighter } from "../../curve.ts";
import { emptyIsolate } from "../../floors/empty-isolate.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

const WORLD = { env: {}, platform: "linux", arch: "x64", clock: "coarse", wasm: false };
const FACTS = JSON.stringify({ api: { id: "bench", name: "bench", pluginConfig: {} }, world: WORLD });
const IDLE = "module.exports = (api) => { api.on('message_sending', () => {}); };";
/** Touches every global and every module, so that all of the library is compiled and run. */
const GREEDY = `module.exports = (api) => {
  for (const name of ${JSON.stringify(Object.keys(GUEST_GLOBALS))}) if (globalThis[name] === undefined) throw new Error(name);
  for (const name of ${JSON.stringify(Object.keys(GUEST_MODULES))}) if (require(name) === undefined) throw new Error(name);
  api.on('message_sending', () => {});
};`;

async function cells(name: string, code: string): Promise<Contestant> {
  const guest = new GuestCode(await guestCode());
  const limits = limitsOf(pluginBudget(undefined, undefined));
  const laneStatus = new LaneStatus(new SharedArrayBuffer(LANE_STATUS_BYTES), 0);
  return contestant(name, () => {
    const cell = new Cell(guest, { cell: 1, plugin: "bench", limits, code, facts: FACTS, hasFineClock: false }, laneStatus);
    const end = cell.load(LIMITS.call.loadWallMs);
    if (end.end !== "result") throw new Error(`the cell did not load: ${JSON.stringify(end)}`);
    cell.dispose();
  });
}

export default {
  question: "a cell with the whole of the guest's world: what does starting it cost, in bare isolates with a context?",
  run: (effort) =>
    among(
      [() => cells("creel, a cell with a plugin", IDLE), () => cells("creel, a plugin that touches everything", GREEDY), emptyIsolate],
      async (contestants) => {
        const series = await latency(contestants, { ...lighter(effort, 4), warmUpCalls: 100 }, { samples: 3 });
        const [subject, greedy, floor] = series;
        return {
          ratios: [
            ratio("cell with a plugin / isolate with a context", over(subject, floor), { atMost: 3 }),
            ratio("cell that touches everything / isolate with a context", over(greedy, floor)),
          ],
          series,
        };
      },
    ),
} satisfies Case;

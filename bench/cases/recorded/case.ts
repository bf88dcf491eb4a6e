// What does it cost that every run is recorded and measured, although nobody looks? One policy gate in a sandbox process, one call at a
// time and 64 in flight. A record takes less than a microsecond, and two hosts differ by more than that; so it is one host, whose
// recording is switched on and off between the blocks. Switched off is all that a run costs the gateway for being watched: counts and histograms
// of its hook and of each of its calls, the clock they read, the numbers of facts, the ring of recent runs (Reporter.report). On both
// sides are one reading of the clock when a run begins, the watch on the event loop, and a cell's heap, read once per 50 ms of its CPU time.
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { asPlugins, eventAt, POLICY_GATE } from "../../handlers.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { latency, over, throughput } from "../../../src/cli/bench/measure.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";
import { openHostWith } from "../../../src/sdk/open-host.ts";

/**
 * A sample is many calls, so that what a record leaves to the garbage collector is in it; the quicker samples of a block count: those that
 * nobody else's work came between.
 */
const FINE = { samples: 8, callsPerSample: 1_000, pick: 0.25 } as const;

/** From sources: the option that switches recording off is not public. */
async function host(): Promise<readonly [recorded: Contestant, unrecorded: Contestant]> {
  const recording = { isOn: true };
  const opened = await openHostWith(
    { isolation: "process", lanes: 1, plugins: asPlugins(POLICY_GATE, 1), config: { sandbox: { spare: false } }, logger: silentLogger },
    { recording, isBare: true },
  );
  const untyped = opened.run.bind(opened) as (hook: string, event: object, context: object) => Promise<unknown>;
  const run =
    (isOn: boolean) =>
    (at: number): Promise<unknown> => {
      recording.isOn = isOn;
      return untyped(POLICY_GATE.hook, eventAt(POLICY_GATE, at), POLICY_GATE.context);
    };
  return [contestant("creel", run(true), () => opened.close()), contestant("creel, unrecorded", run(false))];
}

export default {
  question: "what does it cost that runs are recorded and measured?",
  run: async (effort) => {
    const [recorded, unrecorded] = await host();
    return await among([() => recorded, () => unrecorded], async (both) => {
      const alone = await latency(both, effort, FINE);
      const together = await throughput(both, effort, 64);
      return {
        ratios: [
          ratio("recorded / unrecorded, latency", over(alone[0], alone[1]), { atMost: 1.03 }),
          ratio("recorded / unrecorded, throughput", over(together[0], together[1]), { atLeast: 0.97 }),
        ],
        series: [...alone, ...together],
      };
    });
  },
} satisfies Case;

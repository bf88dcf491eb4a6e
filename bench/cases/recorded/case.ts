// What does it cost that every run is recorded and measured, although nobody looks? One policy gate in a sandbox process, one call at a
// time and 64 in flight: Creel as it is, against Creel that keeps neither runs nor histograms.
import { ratio, reopened } from "../../case.ts";
import type { Case } from "../../case.ts";
import { asPlugins, eventAt, POLICY_GATE } from "../../handlers.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { latency, over, throughput } from "../../../src/cli/bench/measure.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";
import { openHostWith } from "../../../src/sdk/open-host.ts";

/**
 * A record takes less than a microsecond, and one call varies by tens. So a sample is many calls, and the quicker ones of a block count:
 * those that nobody else's work came between.
 */
const FINE = { samples: 8, callsPerSample: 250, pick: 0.25 } as const;

/** From sources, both of them: the option that switches recording off is not public. */
async function host(isUnrecorded: boolean): Promise<Contestant> {
  const opened = await openHostWith(
    { isolation: "process", lanes: 1, plugins: asPlugins(POLICY_GATE, 1), config: { sandbox: { spare: false } }, logger: silentLogger },
    { isUnrecorded, isBare: true },
  );
  const untyped = opened.run.bind(opened) as (hook: string, event: object, context: object) => Promise<unknown>;
  const run = (at: number): Promise<unknown> => untyped(POLICY_GATE.hook, eventAt(POLICY_GATE, at), POLICY_GATE.context);
  return contestant(isUnrecorded ? "creel, unrecorded" : "creel", run, () => opened.close());
}

export default {
  question: "what does it cost that runs are recorded and measured?",
  run: async (effort) => {
    const both = [() => host(false), () => host(true)] as const;
    const alone = await reopened(both, effort, (contestants, share) => latency(contestants, share, FINE));
    const together = await reopened(both, effort, (contestants, share) => throughput(contestants, share, 64));
    return {
      ratios: [
        ratio("recorded / unrecorded, latency", over(alone[0], alone[1]), { atMost: 1.03 }),
        ratio("recorded / unrecorded, throughput", over(together[0], together[1]), { atLeast: 0.97 }),
      ],
      series: [...alone, ...together],
    };
  },
} satisfies Case;

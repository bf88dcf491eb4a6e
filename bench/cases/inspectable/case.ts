// What does it cost that plugins can be debugged and profiled, while nothing goes wrong? It cannot be switched off, and nothing of it is
// armed before somebody names a plugin. So: a policy gate in a sandbox process, in a host that has a debugger's port open for another
// plugin, against the same two plugins in a host that inspects none. The inspected plugin itself is not called.
import { openHost } from "creel";
import { ratio, reopened } from "../../case.ts";
import type { Case } from "../../case.ts";
import { runner } from "../../creel.ts";
import { asPlugins, bystanders, POLICY_GATE } from "../../handlers.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { latency, over, throughput } from "../../../src/cli/bench/measure.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";

/** As in `recorded`: what is looked for is far below what one call varies by. */
const FINE = { samples: 8, callsPerSample: 250, pick: 0.25 } as const;

async function host(isInspecting: boolean): Promise<Contestant> {
  const opened = await openHost({
    isolation: "process",
    lanes: 1,
    plugins: [...asPlugins(POLICY_GATE, 1), ...bystanders(1)],
    config: { sandbox: { spare: false } },
    logger: silentLogger,
    ...(isInspecting && { inspect: { plugin: "bystander-0", port: 0 } }),
  });
  // A plugin that did not load would make a very fast host.
  const broken = opened.plugins().find(({ status }) => status !== "ready");
  if (broken) throw new Error(`${broken.id} is ${broken.status}: ${broken.error?.message}`);
  return contestant(isInspecting ? "creel, inspecting another" : "creel", runner(opened, POLICY_GATE), () => opened.close());
}

export default {
  question: "what does it cost that plugins can be debugged and profiled, while nothing goes wrong?",
  run: async (effort) => {
    const both = [() => host(true), () => host(false)] as const;
    const alone = await reopened(both, effort, (contestants, share) => latency(contestants, share, FINE));
    const together = await reopened(both, effort, (contestants, share) => throughput(contestants, share, 64));
    return {
      ratios: [
        ratio("inspecting another / inspecting none, latency", over(alone[0], alone[1]), { atMost: 1.03 }),
        // To be read: the inspected plugin's lane is one more process, and on two cores it moves gateway and lane about when both are busy.
        ratio("inspecting another / inspecting none, throughput", over(together[0], together[1])),
      ],
      series: [...alone, ...together],
    };
  },
} satisfies Case;

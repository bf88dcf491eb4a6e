// What does a hook cost that nobody listens to? Gateways emit dozens of hooks per turn and most have no handler. A call
// takes less than reading the clock, so a sample is a thousand of them.
import { openHost } from "creel";
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { emptyFloor } from "../../floors/empty.ts";
import { asPlugins, EXCLAIM, POLICY_GATE } from "../../handlers.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

/** A host with a plugin that listens to another hook. */
async function unheard(): Promise<Contestant> {
  const host = await openHost({ isolation: "thread", lanes: 1, plugins: asPlugins(EXCLAIM, 1) });
  const event = { toolName: "exec", params: { command: "ls" } };
  const context = { ...POLICY_GATE.context, toolName: "exec" };
  if (host.has("before_tool_call") || !host.has("message_sending")) throw new Error("the plugin listens to the wrong hook");
  return contestant(
    "creel, nobody listens",
    () => host.run("before_tool_call", event, context),
    () => host.close(),
  );
}

export default {
  question: "a hook that nobody listens to: what does running it cost, in empty async calls?",
  run: (effort) =>
    among([unheard, emptyFloor], async (contestants) => {
      const series = await latency(contestants, effort, { samples: 10, callsPerSample: 1_000 });
      const [subject, floor] = series;
      return { ratios: [ratio("creel / empty async call", over(subject, floor), { atMost: 5 })], series };
    }),
} satisfies Case;

// What does a hook cost that nobody listens to? Gateways emit dozens of hooks per turn and most have no handler. A call
// takes less than reading the clock, so a sample is a thousand of them. Nothing is installed, one plugin is, that listens to another hook, or 500 are.
import { openHost } from "creel";
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../../src/cli/bench/contestant.ts";
import { emptyFloor } from "../../floors/empty.ts";
import { asPlugins, bystanders, EXCLAIM, POLICY_GATE } from "../../handlers.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

const INSTALLED = [0, 1, 500];

/** A host with plugins that listen to other hooks. */
async function unheard(count: number): Promise<Contestant> {
  const plugins = count > 0 ? [...asPlugins(EXCLAIM, 1), ...bystanders(count - 1)] : [];
  const host = await openHost({ isolation: "thread", lanes: 1, plugins });
  const event = { toolName: "exec", params: { command: "ls" } };
  const context = { ...POLICY_GATE.context, toolName: "exec" };
  if (host.has("before_tool_call") || host.has("message_sending") !== count > 0) throw new Error("a plugin listens to the wrong hook");
  return contestant(
    `creel, nobody listens, ${count} installed`,
    () => host.run("before_tool_call", event, context),
    () => host.close(),
  );
}

export default {
  question: "a hook that nobody listens to: what does running it cost, in empty async calls?",
  run: (effort) =>
    among([emptyFloor, ...INSTALLED.map((count) => () => unheard(count))], async (contestants) => {
      const series = await latency(contestants, effort, { samples: 10, callsPerSample: 1_000 });
      const [floor, ...subjects] = series;
      const ratios = subjects.map((subject, at) =>
        ratio(`creel, ${INSTALLED[at]} installed / empty async call`, over(subject, floor), { atMost: 2 }),
      );
      return { ratios, series };
    }),
} satisfies Case;

// What would I pay with something else? One policy gate, one call at a time, run in every way there is: sandboxed by Creel, sandboxed in the ways
// people build themselves, in another process, and not sandboxed at all. Without a sandbox a handler costs next to nothing, and may do anything.
import { ratio } from "../../case.ts";
import type { Case, Target } from "../../case.ts";
import { lighter } from "../../curve.ts";
import { POLICY_GATE } from "../../handlers.ts";
import { amongPresent } from "../../subjects/absent.ts";
import { lasting } from "../../subjects/all.ts";
import { spawned } from "../../subjects/spawned.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";

const OPENINGS = { ...lasting(POLICY_GATE), "a process per hook": () => spawned(POLICY_GATE) };
type Name = keyof typeof OPENINGS;

/** How many times what Creel takes the other one takes. */
const TIMES: readonly (readonly [Name, Target?])[] = [
  ["naive", { atLeast: 3 }],
  ["quickjs-emscripten", { atLeast: 1 }],
  ["a process per hook", { atLeast: 300 }],
  ["isolated-vm from the main thread"],
  ["a WebAssembly component"],
  ["a long-lived child over stdio"],
  ["openclaw's hook runner"],
];

export default {
  question: "one handler, one call at a time: what would something else cost?",
  run: (effort) =>
    amongPresent(
      OPENINGS,
      async ({ contestants, absent, indexOf }) => {
        const series = await latency(contestants, lighter(effort, 2), { samples: 20 });
        const creel = series[indexOf("creel, thread")!]!;
        const ratios = TIMES.flatMap(([name, target]) => {
          const at = indexOf(name);
          return at === undefined ? [] : [ratio(`${name} / creel, thread, latency`, over(series[at]!, creel), target)];
        });
        return { ratios, series, absent };
      },
      POLICY_GATE,
    ),
} satisfies Case;

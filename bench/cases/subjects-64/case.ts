// How much gets through with something else? One policy gate, 64 calls always open, run in every way there is but a process per call: 64 processes
// at once measure the kernel.
import { ratio } from "../../case.ts";
import type { Case, Target } from "../../case.ts";
import { lighter } from "../../curve.ts";
import { POLICY_GATE } from "../../handlers.ts";
import { amongPresent } from "../../subjects/absent.ts";
import { lasting } from "../../subjects/all.ts";
import { naive } from "../../subjects/naive.ts";
import { over, throughput } from "../../../src/cli/bench/measure.ts";

const OPENINGS = { ...lasting(POLICY_GATE), "naive, 64 tasks at once": () => naive(POLICY_GATE, { atOnce: 64 }) };
type Name = keyof typeof OPENINGS;

/** How many times its throughput Creel has. */
const TIMES: readonly (readonly [Name, Target?])[] = [
  ["naive", { atLeast: 4 }],
  ["naive, 64 tasks at once"],
  ["quickjs-emscripten"],
  ["isolated-vm from the main thread"],
  ["a WebAssembly component"],
  ["a long-lived child over stdio"],
];

export default {
  question: "one handler, 64 calls in flight: how much would get through with something else?",
  run: (effort) =>
    amongPresent(
      OPENINGS,
      async ({ contestants, absent, indexOf }) => {
        const series = await throughput(contestants, lighter(effort, 2), 64);
        const creel = series[indexOf("creel, thread")!]!;
        const ratios = TIMES.flatMap(([name, target]) => {
          const at = indexOf(name);
          return at === undefined ? [] : [ratio(`creel, thread / ${name}, throughput`, over(creel, series[at]!), target)];
        });
        return { ratios, series, absent };
      },
      POLICY_GATE,
    ),
} satisfies Case;

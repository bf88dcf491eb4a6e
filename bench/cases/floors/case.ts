// What is a sandboxed call made of? Each step alone, from an empty call to a child's thread that enters an isolate; Creel at the end, to see which of them it
// comes near. The same small event throughout.
import { among, ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { creel } from "../../creel.ts";
import { bareFloor } from "../../floors/bare.ts";
import { cloneFloor, jsonFloor } from "../../floors/copies.ts";
import { emptyFloor } from "../../floors/empty.ts";
import { processFloor, socketEcho } from "../../floors/process.ts";
import { portEcho, threadFloor } from "../../floors/thread.ts";
import { POLICY_GATE } from "../../handlers.ts";
import { latency, over } from "../../../src/cli/bench/measure.ts";
import { lighter } from "../../curve.ts";

export default {
  question: "what is a sandboxed call made of, step by step?",
  run: (effort) =>
    among(
      [
        emptyFloor,
        () => cloneFloor(POLICY_GATE),
        () => jsonFloor(POLICY_GATE),
        () => bareFloor(POLICY_GATE, { encodes: true }),
        () => portEcho(POLICY_GATE),
        () => threadFloor(POLICY_GATE),
        () => socketEcho(POLICY_GATE),
        () => processFloor(POLICY_GATE),
        () => creel(POLICY_GATE, { isolation: "thread" }),
        () => creel(POLICY_GATE, { isolation: "process" }),
      ],
      async (contestants) => {
        const series = await latency(contestants, lighter(effort, 2));
        const [, , , , port, , socket, , thread, child] = series;
        return {
          ratios: [
            ratio("creel, thread / MessagePort echo", over(thread, port)),
            ratio("creel, process / unix-socket echo", over(child, socket)),
          ],
          series,
        };
      },
    ),
} satisfies Case;

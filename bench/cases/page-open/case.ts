// What does it cost a gateway that somebody looks? One policy gate in a sandbox process, 200 runs a second, with the console's page open and with nobody looking: the same host, in turns. The page is in
// another process, as a browser is; what the gateway does for it counts.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openHost } from "creel";
import { serveConsole } from "creel/console";
import { ratio, startedOften } from "../../case.ts";
import type { Case } from "../../case.ts";
import { runner } from "../../creel.ts";
import { asPlugins, POLICY_GATE } from "../../handlers.ts";
import type { Effort } from "../../../src/cli/bench/measure.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";
import { every, traffic } from "../../traffic.ts";
import type { Measured, Served } from "../../traffic.ts";

const PACE_MS = 5;
const CALLS = 40;
const TURNS = 4;

export default {
  question: "200 runs a second with the console's page open: what does a run cost, against nobody looking?",
  async run(effort) {
    await using host = await openHost({ isolation: "process", lanes: 1, plugins: asPlugins(POLICY_GATE, 1), logger: silentLogger });
    await using server = await serveConsole(host, { logger: silentLogger });
    const run = runner(host, POLICY_GATE);
    const served = (name: string): Served => ({ ...contestant(name, run), pids: () => host.pids() });
    const measured = async (name: string, share: Effort): Promise<Measured> => {
      const [found] = await traffic([served(name)], { ...share, roundsMs: share.roundsMs / 2 }, every(PACE_MS, CALLS));
      return found!;
    };
    const looked = async (share: Effort): Promise<Measured> => {
      const page = fork(fileURLToPath(new URL("./reader.ts", import.meta.url)), [server.newAddress()]);
      try {
        await once(page, "message");
        return await measured("page open", share);
      } finally {
        page.kill();
        await once(page, "exit");
      }
    };
    let turn = 0;
    const found = await startedOften(effort, TURNS, async (share) => {
      // The second has warmer code: each is second as often.
      const isSeenFirst = turn++ % 2 === 1;
      const first = isSeenFirst ? await looked(share) : undefined;
      const nobody = await measured("nobody looks", share);
      const page = first ?? (await looked(share));
      const rounds = Math.min(nobody.latency.rounds.length, page.latency.rounds.length);
      return [nobody.latency, page.latency, nobody.cpu, page.cpu].map((series) => ({ ...series, rounds: series.rounds.slice(0, rounds) }));
    });
    const [alone, seen, aloneCpu, seenCpu] = found;
    const over = (one: typeof alone, other: typeof alone): number[] => one!.rounds.map((value, round) => value / other!.rounds[round]!);
    return {
      ratios: [
        ratio("page open / nobody looks, latency of a run", over(seen, alone), { atMost: 1.1 }),
        ratio("page open / nobody looks, processor time of a run", over(seenCpu, aloneCpu), { atMost: 1.1 }),
      ],
      series: found,
    };
  },
} satisfies Case;

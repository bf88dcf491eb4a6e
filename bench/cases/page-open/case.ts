// What does it cost a gateway that somebody looks? One policy gate in a sandbox process, 200 runs a second, on one host: without a console, with one whose tab is hidden, and with its page open, in turns. The page is in
// another process, as a browser is, and that process is there all the time; what the gateway does for it counts. Blocks are short and many, since machines change from second to second. A block has two of an open page's ticks,
// with all its runs, and the state in the first of them: 2.5 times as often as for a page that stays open. Before each block, whoever it is of, a page is shown: what that leaves to the garbage collector is everybody's.
import { setTimeout as sleep } from "node:timers/promises";
import { openHost } from "creel";
import { serveConsole } from "creel/console";
import type { ConsoleServer } from "creel/console";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { runner } from "../../creel.ts";
import { asPlugins, POLICY_GATE } from "../../handlers.ts";
import { contestant } from "../../../src/cli/bench/contestant.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";
import { every, traffic } from "../../traffic.ts";
import type { Measured, Served } from "../../traffic.ts";
import { Page } from "./page.ts";

const PACE_MS = 5;
/** Two ticks of the feed (LIMITS.console.tickMs). */
const CALLS = 160;
/** Four contestants, nothing among them, take three and a half seconds a round: about 60 rounds. */
const ROUNDS = 11;

const over = (one: readonly number[], other: readonly number[]): number[] => one.map((value, round) => value / other[round]!);

export default {
  question: "200 runs a second with the console's page open, with its tab hidden, and without a console: what does a run cost?",
  async run(effort) {
    await using host = await openHost({ isolation: "process", lanes: 1, plugins: asPlugins(POLICY_GATE, 1), logger: silentLogger });
    const run = runner(host, POLICY_GATE);
    await using page = new Page();
    let server: ConsoleServer | undefined;
    const served = (name: string, enter: () => Promise<void>): Served => ({ ...contestant(name, run), pids: () => host.pids(), enter });
    const shown = async (): Promise<void> => {
      server ??= await serveConsole(host, { logger: silentLogger });
      await page.show(server.newAddress());
    };
    const hidden = async (): Promise<void> => {
      await shown();
      await page.hide();
      while (server!.openPages > 0) await sleep(1);
    };
    const contestants = [
      served("no console", async () => {
        await hidden();
        await server?.close();
        server = undefined;
      }),
      served("tab hidden", hidden),
      served("page open", shown),
    ];
    const found = await traffic(contestants, { ...effort, roundsMs: effort.roundsMs * ROUNDS }, every(PACE_MS, CALLS));
    await server?.close();
    const [none, behind, open] = found as [Measured, Measured, Measured];
    const ratios = (
      [
        ["page open", open],
        ["tab hidden", behind],
      ] as const
    ).flatMap(([name, { latency, cpu, at }]) => [
      ratio(`${name} / no console, latency of a run`, over(latency.rounds, none.latency.rounds), { atMost: 1.1 }),
      ratio(`${name} / no console, processor time of a run`, over(cpu.rounds, none.cpu.rounds), { atMost: 1.1 }),
      ratio(`${name} / no console, 99 % of runs`, over(at(0.99), none.at(0.99))),
    ]);
    return { ratios, series: found.flatMap(({ latency, cpu }) => [latency, cpu]) };
  },
} satisfies Case;

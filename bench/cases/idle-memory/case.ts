// What does a plugin cost that does nothing? The memory of the sandbox process, as the kernel counts it, by the number of plugins in it; against
// isolates with a context and nothing else in a process of their own. A slope, so that the process itself does not count.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { openHost } from "creel";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";

const FEW = 10;
const MANY = 110;

/** Megabytes per plugin. */
async function creel(): Promise<number> {
  const [few, many] = [await rssWith(FEW), await rssWith(MANY)];
  return (many - few) / (MANY - FEW);
}

async function rssWith(count: number): Promise<number> {
  const plugins = Array.from({ length: count }, (_, at) => ({
    id: `idle-${at}`,
    source: `export default (api) => { api.on("message_sending", () => ({ content: "${at}" })); };`,
  }));
  await using host = await openHost({ isolation: "process", lanes: 1, plugins, config: { sandbox: { spare: false, walls: "none" } } });
  const { calls } = await host.run("message_sending", { to: "x", content: "x" });
  if (calls.length !== count) throw new Error(`${calls.length} of ${count} plugins answered`);
  return Math.max(...(await Promise.all(host.pids().map(rssOf))));
}

async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** The same slope of bare isolates, in a child of its own. */
const BARE = `
  import ivm from "isolated-vm";
  const isolates = [];
  const grow = (count) => { while (isolates.length < count) { const isolate = new ivm.Isolate({ memoryLimit: 32 }); isolate.createContextSync(); isolates.push(isolate); } return process.memoryUsage.rss() / 2 ** 20; };
  const few = grow(${FEW});
  console.log((grow(${MANY}) - few) / ${MANY - FEW});
`;
async function bare(): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", BARE], { cwd: import.meta.dirname });
  return Number(stdout);
}

export default {
  question: "a plugin that does nothing: how much memory does it take, in bare isolates with a context?",
  async run({ rounds }) {
    const subject: Series = { name: "creel, one more idle plugin", unit: "MB", samples: [], rounds: [] };
    const floor: Series = { name: "floor: one more isolate with a context", unit: "MB", samples: [], rounds: [] };
    for (let round = 0; round < Math.ceil(rounds / 20); round++) {
      for (const [series, measure] of [
        [subject, creel],
        [floor, bare],
      ] as const) {
        const value = await measure();
        series.samples.push(value);
        series.rounds.push(value);
      }
    }
    return {
      ratios: [
        ratio("MB per idle plugin", subject.rounds, { atMost: 4 }),
        ratio(
          "idle plugin / isolate with a context",
          subject.rounds.map((value, at) => value / floor.rounds[at]!),
        ),
      ],
      series: [subject, floor],
    };
  },
} satisfies Case;

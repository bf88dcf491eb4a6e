// What does a plugin cost that does nothing? The memory of the sandbox process, as the kernel counts it, by the number of plugins in it; against
// isolates with a context and nothing else in a process of their own. What counts is the slope, so that the process itself does not.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { openHost } from "creel";
import { ratio } from "../../case.ts";
import type { Case } from "../../case.ts";
import { line } from "../../curve.ts";
import { turns } from "../../turns.ts";
import type { Turn } from "../../turns.ts";
import { over } from "../../../src/cli/bench/measure.ts";
import type { Series } from "../../../src/cli/bench/measure.ts";

const COUNTS = [10, 60, 110];

function sized(name: string, measure: () => Promise<number[]>): Turn<string> {
  const names = COUNTS.map((count) => `${name}, ${count}`);
  return {
    names,
    async once() {
      const found = await measure();
      return Object.fromEntries(names.map((each, at) => [each, found[at]!]));
    },
  };
}

async function creel(): Promise<number[]> {
  const found: number[] = [];
  for (const count of COUNTS) found.push(await rssWith(count));
  return found;
}

async function rssWith(count: number): Promise<number> {
  const plugins = Array.from({ length: count }, (_, at) => ({
    id: `idle-${at}`,
    source: `export default (api) => { api.on("message_sending", () => ({ content: "${at}" })); };`,
  }));
  await using host = await openHost({ isolation: "process", lanes: 1, plugins, config: { sandbox: { spare: false, walls: "none" } } });
  const { calls } = await host.run("message_sending", { to: "x", content: "x" }, { channelId: "chat" });
  if (calls.length !== count) throw new Error(`${calls.length} of ${count} plugins answered`);
  return Math.max(...(await Promise.all(host.pids().map(rssOf))));
}

async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** Bare isolates, in a child of their own. */
const BARE = `
  import ivm from "isolated-vm";
  const isolates = [];
  const grow = (count) => { while (isolates.length < count) { const isolate = new ivm.Isolate({ memoryLimit: 32 }); isolate.createContextSync(); isolates.push(isolate); } return process.memoryUsage.rss() / 2 ** 20; };
  console.log(JSON.stringify(${JSON.stringify(COUNTS)}.map(grow)));
`;
async function bare(): Promise<number[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", BARE], { cwd: import.meta.dirname });
  return JSON.parse(stdout) as number[];
}

/** Megabytes of one more. */
function slope(name: string, sizes: readonly Series[]): Series {
  const [few, many] = [sizes[0]!, sizes.at(-1)!];
  const rounds = many.rounds.map((mb, round) => (mb - few.rounds[round]!) / (COUNTS.at(-1)! - COUNTS[0]!));
  return { name, unit: "MB", samples: rounds, rounds };
}

export default {
  question: "a plugin that does nothing: how much memory does it take, in bare isolates with a context?",
  async run(effort) {
    const contestants = [sized("creel, process", creel), sized("floor: isolates with a context", bare)];
    const series = await turns(contestants, effort, { unit: "MB", rounds: Math.max(2, Math.ceil(effort.rounds / 20)) });
    const [cells, isolates] = [series.slice(0, COUNTS.length), series.slice(COUNTS.length)];
    const [subject, floor] = [slope("creel, one more idle plugin", cells), slope("floor: one more isolate with a context", isolates)];
    return {
      ratios: [
        ratio("one more idle plugin", subject.rounds, { atMost: 4 }, "MB"),
        ratio("idle plugin / isolate with a context", over(subject, floor)),
      ],
      series: [subject, floor],
      curves: [
        {
          what: "memory against plugins",
          x: { name: "plugins loaded", scale: "linear" },
          unit: "MB",
          lines: [line("creel, sandbox process", COUNTS, cells, "linear"), line("isolates with a context", COUNTS, isolates, "linear")],
        },
      ],
    };
  },
} satisfies Case;

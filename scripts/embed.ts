/**
 * What `import "creel"` costs a gateway before a host is open: modules, CPU and memory, against a bare Node.
 * `node scripts/embed.ts [entry]` prints JSON, and fails beyond the bounds; test/first-hour/embed-costs.test.ts holds them for the packed package.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { resolve } from "node:path";

/** A third of the CPU time that it once took (370 ms). */
export const MOST_EMBED = { modules: 150, cpuMs: 123, rssMb: 20 } as const;

export interface Embed {
  readonly modules: number;
  /** By package; Creel's own files are "creel". */
  readonly byPackage: Readonly<Record<string, number>>;
  /** Above a bare Node; the median of the rounds. */
  readonly cpuMs: number;
  readonly rssMb: number;
}

const COUNT = `
import { registerHooks } from "node:module";
const urls = new Set();
registerHooks({ load(url, context, next) { urls.add(url); return next(url, context); } });
await import(process.argv[1]);
console.log(JSON.stringify([...urls]));`;
const COST = `
if (process.argv[1]) await import(process.argv[1]);
const { user, system } = process.cpuUsage();
console.log(JSON.stringify([(user + system) / 1000, process.memoryUsage.rss() / 2 ** 20]));`;

function run(code: string, entry: string): unknown {
  const args = ["-C", "source", "--input-type=module", "-e", code, entry];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

/** The files that are loaded, without Node's own. */
export function modulesOf(entry: string): string[] {
  return (run(COUNT, entry) as string[]).filter((url) => url.startsWith("file:"));
}

export function packageOf(url: string): string {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? "creel";
}

export function measure(entry: string, rounds = 7): Embed {
  const urls = modulesOf(entry);
  const counts = Object.entries(Object.groupBy(urls, packageOf)).map(([name, found]) => [name, found!.length] as const);
  const pairs = Array.from({ length: rounds }, () => {
    const [bareCpu, bareRss] = run(COST, "") as [number, number];
    const [cpu, rss] = run(COST, entry) as [number, number];
    return { cpu: cpu - bareCpu, rss: rss - bareRss };
  });
  const median = (values: number[]): number => Math.round(values.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]!);
  return {
    modules: urls.length,
    byPackage: Object.fromEntries(counts.toSorted(([, a], [, b]) => b - a)),
    cpuMs: median(pairs.map(({ cpu }) => cpu)),
    rssMb: median(pairs.map(({ rss }) => rss)),
  };
}

/** The names of the bounds that are missed. */
export function missedBy(cost: Embed): string[] {
  return (["modules", "cpuMs", "rssMb"] as const).filter((name) => cost[name] > MOST_EMBED[name]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cost = measure(pathToFileURL(resolve(process.argv[2] ?? "dist/entry.js")).href);
  const missed = missedBy(cost);
  console.log(JSON.stringify({ ...cost, missed }, undefined, 2));
  if (missed.length > 0) process.exitCode = 1;
}

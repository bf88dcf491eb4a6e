/** The costs in README.md, made of the data of a run: traffic as gateways have it, before the best case. A row whose case was not measured is left out. */
import type { CaseData, ReportData, SeriesData } from "./data.ts";
import { quantity } from "./numbers.ts";

export const README = new URL("../../README.md", import.meta.url);
const BEGIN = "<!-- costs: made by npm run bench -- --report -->";
const END = "<!-- /costs -->";

/** What is shown, the case that has it, and what its series add to the name of a contestant: how many handlers, and under which traffic. */
const ROWS = [
  ["a call every 5 ms, async handler that rewrites", "traffic-sparse", "", " (every 5 ms)"],
  ["ten plugins on the hook, a call every 5 ms", "traffic-lanes", ", 10 handlers", " (every 5 ms)"],
  ["ten plugins, 500 calls a second at random", "traffic-poisson", ", 10 handlers", " (500 a second)"],
  ["the gateway's event loop half busy, a call every 5 ms", "traffic-busy-gateway", "", ""],
  ["a busy process on every core, back to back", "traffic-neighbours", "", " (one at a time, busy)"],
  ["a whole turn: nine runs, ten plugins in each", "traffic-turn", "", ""],
  ["first call after a pause", "first-call", "", ""],
  ["back to back", "subjects", "", ""],
] as const;

const CONTESTANTS = ["creel, process", "creel, thread", "floor: port + applySync"] as const;

/** Others, back to back. */
const OTHERS = [
  ["OpenClaw's own runner, in its process", "openclaw's hook runner, no sandbox", "no isolation"],
  ["QuickJS in WebAssembly, same thread", "quickjs-emscripten, same thread", "a loop blocks the gateway"],
  ["isolated-vm from the main thread", "isolated-vm from the main thread, as Directus does", "a V8 abort ends the gateway"],
  ["a process per hook", "a process per hook", "a process"],
] as const;

export function costs(data: ReportData): string {
  const { cpu, cores } = data.machine;
  const of = (name: string): CaseData | undefined => data.cases.find((one) => one.name === name);
  const seriesOf = (name: string, series: string): SeriesData | undefined => of(name)?.series.find((one) => one.name === series);
  const traffic = ROWS.flatMap(([what, name, handlers, under]) => {
    const cells = CONTESTANTS.map((who) =>
      cost(seriesOf(name, `${who}${handlers}${under}`), seriesOf(name, `${who}${handlers}, processor time per call${under}`)),
    );
    return cells[0] === "" ? [] : [`| ${[what, ...cells].join(" | ")} |`];
  });
  const others = OTHERS.flatMap(([what, series, note]) => {
    const found = seriesOf("subjects", series);
    return found ? [`| ${what} | ${quantity(found.median, found.unit)} | ${note} |`] : [];
  });
  return [
    BEGIN,
    `One \`before_tool_call\`, median and CPU time per call, on ${cores} ${cpu} cores ([all numbers](docs/benchmarks.md)). The floor is a worker`,
    "thread that enters an isolate and does nothing else:",
    "",
    "| one call | process isolation | thread isolation | floor |",
    "|---|---|---|---|",
    ...traffic,
    "",
    "| other ways, back to back | time | isolation |",
    "|---|---|---|",
    ...others,
    END,
  ].join("\n");
}

/** The page with its costs replaced. */
export function withCosts(page: string, data: ReportData): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`README.md has lost the marks of its costs: ${BEGIN} … ${END}`);
  return page.slice(0, from) + costs(data) + page.slice(to + END.length);
}

function cost(latency: SeriesData | undefined, cpu: SeriesData | undefined): string {
  if (!latency) return "";
  const cpuUs = cpu?.median ?? latency.cpuUs?.median;
  return `${quantity(latency.median, latency.unit)}${cpuUs === undefined ? "" : `, CPU ${quantity(cpuUs, "µs")}`}`;
}

/** A run that never was: every kind of case, with numbers that are easily told apart, and names that would break a careless page. */
import { ratio } from "../../bench/case.ts";
import type { CaseResult, Line, Point } from "../../bench/case.ts";
import { summarized, VERSION } from "../../bench/report/data.ts";
import type { CaseData, ReportData } from "../../bench/report/data.ts";
import type { Machine } from "../../src/cli/bench/machine.ts";
import type { Series } from "../../src/cli/bench/measure.ts";

/** Always the same: numbers of a small generator (Park and Miller). */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

export function series(name: string, middle: number, unit: Series["unit"] = "µs", count = 400): Series {
  const next = noise(Math.round(middle * 1000) + 7);
  const samples = Array.from({ length: count }, () => middle * Math.exp((next() + next() + next() - 1.5) * 0.5) * (next() > 0.97 ? 3 : 1));
  return { name, unit, samples, rounds: samples.slice(0, 20) };
}

function around(value: number): Pick<Point, "value" | "low" | "high"> {
  return { value, low: value * 0.94, high: value * 1.07 };
}

export function line(name: string, xs: readonly number[], of: (x: number) => number, growth?: Line["growth"]): Line {
  return { name, ...(growth && { growth }), points: xs.map((x) => ({ x, ...around(of(x)) })) };
}

function made(name: string, question: string, result: CaseResult): CaseData {
  return { name, date: "2026-01-02T03:04:05.000Z", question, seconds: 12.3, load: 1.5, ...summarized(result) };
}

const MACHINE: Machine = {
  cpu: "A processor <&>",
  cores: 2,
  memoryGb: 24,
  os: "linux x64 6.1",
  node: "24.0.0",
  v8: "13.6",
  isolatedVm: "7.0.1",
  load: 0.4,
};

const SUBJECTS: readonly (readonly [string, number])[] = [
  ["creel, thread", 38],
  ["creel, process", 52],
  ["floor: port + applySync", 36],
  ["openclaw's hook runner, no sandbox", 1.4],
  ["hookable", 0.9],
  ["isolated-vm from the main thread", 14],
  ['quickjs-emscripten <script>alert("&")</script>', 71],
  ["naive: piscina run + asynchronous apply, an isolate per plugin and a pool around it", 190],
  ["a long-lived child over stdio", 110],
  ["a process per hook", 41_000],
];

const CHAIN = [1, 5, 10, 50];
const SIZES = [1, 10, 100, 1000];
const FLIGHT = [1, 4, 16, 64, 256];
const INSTALLED = [10, 50, 100, 500];

export function fixture(): ReportData {
  return {
    version: VERSION,
    date: "2026-01-02T03:04:05.000Z",
    effort: "full",
    seconds: 420,
    machine: MACHINE,
    loadAtEnd: 1.9,
    cases: [
      made("chain-length", "how does it grow with the plugins in a chain?", {
        ratios: [],
        series: [],
        curves: [
          {
            what: "latency against chain length",
            x: { name: "plugins in the chain", scale: "linear" },
            unit: "µs",
            lines: [
              line("creel, thread", CHAIN, (x) => 28 + 11 * x, "linear"),
              line("creel, process", CHAIN, (x) => 45 + 11.5 * x, "linear"),
              line("a hand-written chain that grows too fast", CHAIN, (x) => 20 + 8 * x + 0.4 * x * x, "linear"),
              line("naive: a hop per handler", CHAIN, (x) => 90 * x, "linear"),
            ],
          },
        ],
      }),
      made("idle-memory", "how much memory does a plugin take?", {
        ratios: [ratio("an idle plugin", [2.1, 2.2, 2.3], { atMost: 4 }, "MB")],
        series: [series("creel, one more idle plugin", 2.1, "MB", 6), series("floor: one more isolate", 1.2, "MB", 6)],
      }),
      made("in-flight", "how much goes through at once?", {
        ratios: [ratio("creel / floor, throughput", [0.8, 0.82, 0.84], { atLeast: 0.85 })],
        series: [],
        curves: [
          {
            what: "throughput against calls in flight",
            x: { name: "calls in flight", scale: "log" },
            unit: "calls/ms",
            lines: [
              line("creel, thread", FLIGHT, (x) => (80 * x) / (x + 3)),
              line("creel, process", FLIGHT, (x) => (75 * x) / (x + 4)),
              line("floor: port + applySync", FLIGHT, (x) => (82 * x) / (x + 3)),
            ],
          },
        ],
      }),
      made("installed", "what do plugins cost that do not listen?", {
        ratios: [],
        series: [],
        curves: [
          {
            what: "latency against installed plugins",
            x: { name: "plugins installed", scale: "linear" },
            unit: "µs",
            lines: [
              line("creel, thread", INSTALLED, (x) => 60 + x / 200, "flat"),
              line("creel, process", INSTALLED, (x) => 70 + x / 10, "flat"),
            ],
          },
        ],
      }),
      {
        ...made("lost", "what happens to a case that dies?", { ratios: [], series: [] }),
        error: "Error: <it> died (ended with SIGSEGV)",
      },
      made("payload", "how does it grow with the event?", {
        ratios: [],
        series: [],
        curves: [
          {
            what: "latency against payload size",
            x: { name: "messages in the event", unit: "KB", scale: "log" },
            unit: "µs",
            lines: [
              line("creel, thread", SIZES, (x) => 40 + 3.1 * x, "linear"),
              line("floor: structuredClone", SIZES, (x) => 2 + 2.2 * x, "linear"),
            ],
          },
        ],
      }),
      made("runaway-stop", "how long does an endless loop run?", {
        ratios: [ratio("stopped / its budget", [2.4, 2.5, 2.6])],
        series: [
          series("creel, thread: for (;;);", 252, "ms", 40),
          series("creel, process: for (;;);", 255, "ms", 40),
          series("creel, process: a BigInt power", 480, "ms", 40),
        ],
      }),
      made("subjects", "one handler | one call: what would something else cost?", {
        ratios: [
          ratio("naive / creel, thread", [4.8, 5, 5.2], { atLeast: 3 }),
          ratio("a process per hook / creel, thread", [1000, 1050, 1100], { atLeast: 300 }),
          ratio("creel, thread / floor", [1.29, 1.3, 1.31], { atMost: 1.2 }),
        ],
        series: SUBJECTS.map(([name, middle]) => series(name, middle)),
        absent: [{ name: "extism", why: "the package | is not installed" }],
      }),
    ],
  };
}

/** The report is made of its data: every number of the page is one of them, every line is drawn, the drawings are well-formed, and what is committed is what the data gives. */
import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { isMet } from "../../bench/case.ts";
import { doubts, readData, verdict, written } from "../../bench/report/data.ts";
import type { ReportData } from "../../bench/report/data.ts";
import { fitOf } from "../../bench/report/fit.ts";
import { short } from "../../bench/report/numbers.ts";
import { page } from "../../bench/report/page.ts";
import { costs, README, withCosts } from "../../bench/report/readme.ts";
import { print } from "../../bench/report/terminal.ts";
import { attachments, DATA, PAGE } from "../../bench/report/write.ts";
import { fixture, line } from "./fixture.ts";

const data = fixture();
const drawings = [...attachments(data)].filter(([name]) => name.endsWith(".svg"));

/** Tags that open and close in order, attributes in quotes, no bare sign: what a strict reader asks for. */
function malformed(xml: string): string | undefined {
  const open: string[] = [];
  const pieces = [...xml.matchAll(/([^<]*)(<[^>]*>)?/g)];
  if (pieces.map(([piece]) => piece).join("") !== xml) return "a tag that does not end";
  for (const [, text, tag] of pieces) {
    if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(text!) || text!.includes(">")) return `text ${text}`;
    if (tag === undefined) continue;
    const found =
      /^<(?<close>\/?)(?<name>[a-z]+)(?<attributes>(?: [\w:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot|#39);[^"<&]*)*")*)(?<empty>\/?)>$/i.exec(
        tag,
      )?.groups;
    if (!found) return tag;
    if (found.close && open.pop() !== found.name) return tag;
    if (!found.close && !found.empty) open.push(found.name!);
  }
  return open.at(-1);
}

describe("the drawings", () => {
  it.each(drawings)("%s is well-formed, small, and has no place that is no number", (_, svg) => {
    expect(malformed(svg)).toBe(undefined);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    expect(svg).not.toContain("<script");
    expect(svg.length).toBeLessThan(20_000);
    expect(svg).toContain("prefers-color-scheme:dark");
  });

  it("a reader that is strict refuses what is not well-formed", () => {
    expect([`<a b="1"><c/></a>`, "<a><b></a>", "<a", `<a b=1/>`, "a & b", `<a b="<"/>`].map((xml) => malformed(xml) === undefined)).toEqual(
      [true, false, false, false, false, false],
    );
  });

  it("there is one per curve, and the ladder", () => {
    expect(drawings.map(([name]) => name).toSorted()).toEqual([
      "ladder.svg",
      "latency-against-chain-length.svg",
      "latency-against-installed-plugins.svg",
      "latency-against-payload-size.svg",
      "throughput-against-calls-in-flight.svg",
    ]);
  });

  it("every line of a curve is drawn through all its points, with its name and its fit", () => {
    for (const { what, lines, unit } of data.cases.flatMap(({ curves }) => curves)) {
      const svg = new Map(drawings).get(`${what.replaceAll(" ", "-")}.svg`)!;
      expect(svg.match(/<circle/g)).toHaveLength(lines.reduce((sum, { points }) => sum + points.length, 0));
      expect(svg.match(/class="s\d line"/g)).toHaveLength(lines.length);
      expect(svg.match(/class="s\d fit"/g)?.length ?? 0).toBe(lines.filter(({ growth }) => growth === "linear").length);
      for (const one of lines) expect(svg).toContain(one.name.slice(0, 30));
      for (const { brief } of lines.flatMap((one) => fitOf(one, unit, "") ?? [])) expect(svg).toContain(brief);
    }
  });

  it("every contestant has its row in the ladder, under a name that is escaped", () => {
    const { series } = data.cases.find(({ name }) => name === "subjects")!;
    const svg = new Map(drawings).get("ladder.svg")!;
    expect(svg.match(/<rect class="f\d"/g)).toHaveLength(series.length);
    expect(svg).toContain("quickjs-emscripten &lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;");
  });
});

describe("the page", () => {
  const text = page(data);

  it("has every ratio with its interval, target and verdict, as the data has them", () => {
    for (const ratio of data.cases.flatMap(({ ratios }) => ratios)) {
      const row = text.split("\n").find((candidate) => candidate.startsWith("|") && candidate.includes(ratio.what))!;
      expect(row).toContain(`**${short(ratio.value)} ${ratio.unit ?? "×"}**`);
      expect(row).toContain(`| ${short(ratio.low)} … ${short(ratio.high)} |`);
      expect(row).toContain(ratio.spread ? `| ${ratio.spread.map(short).join(" … ")} |` : "|  |");
      expect(row.includes("**missed**")).toBe(!isMet(ratio));
      expect(row.includes("| met |")).toBe(ratio.target !== undefined && isMet(ratio));
    }
    expect(verdict(data, isMet)).toEqual({ held: 5, missed: 2 });
    expect(text).toContain("**3 of 5 targets met**");
  });

  it("has every contestant's times, every fit and its verdict, who is absent and what was not measured", () => {
    for (const { series } of data.cases)
      for (const { median, p10, p90, p99, unit } of series)
        expect(text).toContain(`| **${short(median)}** | ${short(p10)} | ${short(p90)} | ${short(p99)} | ${unit} |`);
    for (const { lines, unit, x } of data.cases.flatMap(({ curves }) => curves))
      for (const { words, isExpected } of lines.flatMap((one) => fitOf(one, unit, x.unit ?? x.name) ?? []))
        expect(text).toContain(`| ${words} | ${isExpected ? "ok" : "**FAIL**"} |`);
    expect(text).toContain("| extism | the package \\| is not installed |");
    expect(text).toContain("**Not measured:** Error: &lt;it> died (ended with SIGSEGV)");
  });

  it("links to its drawings and to headings that are there", () => {
    for (const [, file] of text.matchAll(/\(benchmarks\/([^)]+)\)/g)) expect(attachments(data).has(file!)).toBe(true);
    for (const [, anchor] of text.matchAll(/\(#([^)]+)\)/g)) expect(text).toContain(`\n### ${anchor}\n`);
  });

  it("says which case was measured again later", () => {
    expect(text).not.toContain("Measured again");
    const later = {
      ...data,
      cases: data.cases.map((one) => (one.name === "subjects" ? { ...one, date: "2026-01-03T00:00:00.000Z" } : one)),
    };
    expect(page(later).match(/Measured again later, 2026-01-03T/g)).toHaveLength(1);
  });

  it("says what makes it doubtful", () => {
    expect(doubts(data)).toEqual([]);
    const busy: ReportData = {
      ...data,
      effort: "quick",
      machine: { ...data.machine, load: 7 },
      loadAtEnd: 9,
      cases: data.cases.map((one) => ({ ...one, load: 8 })),
    };
    expect(doubts(busy)).toHaveLength(4);
    for (const doubt of doubts(busy)) expect(page(busy)).toContain(`> **Doubt:** ${doubt}`);
  });

  it("a terminal is told the same", () => {
    let printed = "";
    print(data, { width: 100, line: (more = "") => void (printed += `${more}\n`), paint: (_, plain) => plain });
    for (const word of ["3 of 5 targets met", "absent: extism", "not measured: lost", "✗ miss", "✓ pass", "faster than linear", "2.20 MB"])
      expect(printed).toContain(word);
  });

  it("its data is read back as it was written", async () => {
    expect(JSON.parse(written(data))).toEqual(data);
    expect(written(data).length).toBeLessThan(30_000);
    await expect(readData(new URL("../../package.json", import.meta.url))).rejects.toThrow("run the bench again");
  });
});

describe("the costs in README.md", () => {
  it("show time and CPU time of each traffic that was measured, and leave out what was not", () => {
    const at = (name: string, median: number, cpuUs?: number) => ({
      ...data.cases[0]!.series[0]!,
      name,
      unit: "µs" as const,
      median,
      ...(cpuUs && { cpuUs: { median: cpuUs, p10: cpuUs, p90: cpuUs } }),
    });
    const cases = [
      { ...data.cases[0]!, name: "first-call", series: [at("creel, process", 232), at("creel, thread", 163)] },
      {
        ...data.cases[0]!,
        name: "traffic-poisson",
        series: [
          at("creel, process, 10 handlers (500 a second)", 210),
          at("creel, process, 10 handlers, processor time per call (500 a second)", 310),
        ],
      },
      { ...data.cases[0]!, name: "subjects", series: [at("creel, process", 13, 27), at("a process per hook", 28_600)] },
    ];
    const lines = costs({ ...data, cases }).split("\n");
    expect(lines.filter((row) => row.startsWith("|") && !/^\|-|^\| (?:one call|other ways)/.test(row))).toEqual([
      "| ten plugins, 500 calls a second at random | 210 µs, CPU 310 µs |  |  |",
      "| first call after a pause | 232 µs | 163 µs |  |",
      "| back to back | 13 µs, CPU 27 µs |  |  |",
      "| a process per hook | 28.6 ms | a process |",
    ]);
    expect(() => withCosts("a page without marks", data)).toThrow("has lost the marks");
  });
});

describe("what is committed", () => {
  it("docs/benchmarks.md and its drawings are what docs/benchmarks/data.json gives", async () => {
    const real = await readData(DATA);
    expect(await readFile(PAGE, "utf8")).toBe(page(real));
    expect(await readFile(README, "utf8")).toContain(costs(real));
    const files = attachments(real);
    expect((await readdir(new URL(".", DATA))).toSorted()).toEqual([...files.keys()].toSorted());
    for (const [name, content] of files) expect(await readFile(new URL(name, DATA), "utf8")).toBe(content);
  });
});

describe("a fit", () => {
  const xs = [1, 5, 10, 50];
  it.each([
    ["a straight line", (x: number) => 20 + 3 * x, "linear", true],
    ["one without a base", (x: number) => 3 * x, "linear", true],
    ["one that bends downwards", (x: number) => 100 * Math.sqrt(x), "linear", true],
    ["a square", (x: number) => 20 + x * x, "linear", false],
    ["a square below a large base", (x: number) => 100 + x * x, "linear", false],
    ["n log n, from a large base", (x: number) => 100 + 5 * x * Math.log2(x + 1), "linear", true],
    ["a level", () => 40, "flat", true],
    ["a level with a little noise", (x: number) => 40 + (x % 3), "flat", true],
    ["a rise by a half", (x: number) => 40 + x / 2.5, "flat", false],
  ] as const)("of %s: %s, %s, is as expected: %s", (_, of, growth, isExpected) => {
    expect(fitOf(line("x", xs, of, growth), "µs", "x")).toMatchObject({ kind: growth, isExpected });
  });

  it("finds the line it was made of", () => {
    const fit = fitOf(
      line("x", xs, (x) => 20 + 3 * x, "linear"),
      "µs",
      "x",
    )!;
    expect([fit.base, fit.perX, fit.r2]).toEqual([expect.closeTo(20), expect.closeTo(3), expect.closeTo(1)]);
    expect(
      fitOf(
        line("x", xs, (x) => 2 * x * x, "linear"),
        "µs",
        "x",
      )!.exponent,
    ).toBeCloseTo(2);
    expect(
      fitOf(
        line("x", xs, (x) => x),
        "µs",
        "x",
      ),
    ).toBe(undefined);
  });
});

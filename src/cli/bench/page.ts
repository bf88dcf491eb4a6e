/** The result of `creel bench` for people: one sentence per hook, then the numbers behind it. */
import { duration, wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import { oneLine } from "../../text/one-line.ts";
import { ERRORS } from "../../protocol/errors.ts";
import { sparklines } from "./histogram.ts";
import { machineLine } from "./machine.ts";
import type { Machine } from "./machine.ts";
import type { BenchProblem, HookCost, PluginFindings } from "./plugin.ts";

export function page(findings: PluginFindings, machine: Machine, terminal: Terminal): void {
  const { line, paint } = terminal;
  const { id, version, isolation, error, hooks, problems } = findings;
  line(`${paint("bold", id)}${version === undefined ? "" : ` ${version}`}${paint("gray", `  ${isolation} isolation`)}`);
  if (error) return problem({ hook: "loading", message: error.message, at: error.at, fix: ERRORS[error.code].fix }, terminal);
  loading(findings, terminal);
  for (const cost of hooks) hookLines(cost, terminal);
  if (problems.length > 0) line();
  for (const one of problems) problem(one, terminal);
  if (hooks.length === 0 && problems.length === 0) line("  it listens to no hook, so there is nothing to measure");
  line();
  line(paint("gray", "the plugin and an empty handler take turns; the ratio is computed per turn; [ ] is its 95 % interval"));
  line(paint("gray", machineLine(machine)));
  if (machine.load > machine.cores)
    line(`${paint("yellow", "!")} load ${machine.load} on ${machine.cores} cores: times are too long, and ratios less precise`);
}

function loading({ loadMs, emptyLoadMs, memoryMb, emptyMemoryMb, bundleBytes }: PluginFindings, { line, paint }: Terminal): void {
  const row = (what: string, text: string): void => line(`  ${paint("gray", what.padEnd(10))}${text}`);
  const beside = (text: string): string => paint("gray", `  an empty plugin: ${text}`);
  if (loadMs !== undefined)
    row(
      "loads in",
      `${duration(loadMs)}${bundleBytes === undefined ? "" : `, a bundle of ${(bundleBytes / 1024).toFixed(1)} KB`}${emptyLoadMs === undefined ? "" : beside(duration(emptyLoadMs))}`,
    );
  if (memoryMb !== undefined)
    row("memory", `${memoryMb.toFixed(1)} MB${emptyMemoryMb === undefined ? "" : beside(`${emptyMemoryMb.toFixed(1)} MB`)}`);
}

function hookLines(
  { hook, event, latency, empty, ratio, cpuUs, budget, share, callsPerSecond, emptyCallsPerSecond }: HookCost,
  { line, paint }: Terminal,
): void {
  const [own, other] = sparklines([latency.bins, empty.bins]) as [string, string];
  const times = ({ medianUs, p90Us, p99Us }: HookCost["latency"]): string =>
    `median ${micro(medianUs)}, 90 % ${micro(p90Us)}, 99 % ${micro(p99Us)}`;
  line();
  line(
    `${paint("bold", hook)} costs ${paint("bold", micro(latency.medianUs))} per call, ${paint("bold", `${ratio.value.toFixed(2)} ×`)} an empty handler [${ratio.low.toFixed(2)} … ${ratio.high.toFixed(2)}]; ${percent(share)} of its ${duration(budget.cpuMs)} budget`,
  );
  line(paint("gray", `  ${own}  plugin         ${times(latency)}`));
  line(paint("gray", `  ${other}  empty handler  ${times(empty)}`));
  line(
    paint(
      "gray",
      `  cpu ${micro(cpuUs)} per call; with 64 in flight ${perSecond(callsPerSecond)}, empty handler ${perSecond(emptyCallsPerSecond)}`,
    ),
  );
  if (event === "sample") line(paint("gray", "  called with the smallest valid event; --hook and --event measure a real one"));
}

function problem({ hook, message, at, fix }: BenchProblem, { line, paint, width }: Terminal): void {
  const [first = "", ...more] = wrap(`${hook}: ${oneLine(message, 1_000)}`, width - 2);
  line(`${paint("red", "✗")} ${first}`);
  for (const part of more) line(`  ${part}`);
  if (at !== undefined) line(paint("gray", `    at ${at}`));
  for (const part of wrap(`→ ${fix}`, width - 4)) line(paint("gray", `    ${part}`));
}

function micro(us: number): string {
  return us >= 1000 ? duration(us / 1000) : `${us >= 100 ? us.toFixed(0) : us.toPrecision(2)} µs`;
}

function percent(share: number): string {
  const hundredths = share * 100;
  return hundredths < 0.01 ? "under 0.01 %" : `${hundredths < 1 ? hundredths.toFixed(2) : hundredths.toFixed(0)} %`;
}

function perSecond(calls: number): string {
  return `${Math.round(calls).toLocaleString("en-US")} calls/s`;
}

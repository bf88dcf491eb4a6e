/**
 * A hostile program in the place of the sandbox process, in every way of evil/modes.ts, each in a gateway of its own: each has seven
 * seconds, `--seconds 60` gives a minute, `--only <text>` takes those with the text in their name, `--json` prints figures and verdicts. Exit code 1 when a rule was
 * broken. `npm test` has the same ways in test/robustness/evil-child.test.ts, without the bounds of memory and time.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { MODES } from "./evil/modes.ts";
import type { Mode } from "./evil/modes.ts";
import { suffer } from "./evil/stage.ts";
import type { Felt } from "./evil/stage.ts";

/** What the gateway may grow by from rest, and how long its event loop may be kept, by the clock or in CPU time. */
const GROWN_MB = 64;
const STALL_MS = 100;
/** The slowest call of a neighbour, which has a process of its own: two stalls, and the time that its own process takes. */
const NEIGHBOUR_MS = 250;
/** By the clock, what the machine did to the control process in the same time is allowed twice: a gateway has more to do, as in verdict.ts. */
const MACHINE_FACTOR = 2;

const { values: flags } = parseArgs({
  options: {
    seconds: { type: "string", default: "7" },
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    mode: { type: "string" },
  },
});

if (flags.mode !== undefined)
  console.log(JSON.stringify(await suffer(flags.mode as Mode, { seconds: Number(flags.seconds), isControlled: true })));
else await main();

async function main(): Promise<void> {
  const figures: { readonly mode: Mode; readonly broken: readonly string[]; readonly restarts: number | undefined }[] = [];
  for (const mode of MODES) {
    if (!mode.includes(flags.only)) continue;
    const felt = await inProcess(mode);
    const broken = felt === undefined ? ["the gateway died"] : rulesBroken(felt);
    if (broken.length > 0) process.exitCode = 1;
    figures.push({ mode, broken, ...felt, restarts: felt?.restarts.length });
    const print = flags.json ? console.error : console.log;
    print(`${broken.length === 0 ? "✓" : "✗"} ${mode}: ${felt ? summary(felt) : ""}${broken.map((rule) => `\n    ${rule}`).join("")}`);
  }
  const failed = figures.filter(({ broken }) => broken.length > 0).length;
  console[flags.json ? "error" : "log"](
    `${figures.length} ways, ${flags.seconds} s each: ${failed === 0 ? "every rule held" : `${failed} broke a rule`}`,
  );
  const mostOf = (key: keyof Felt): number => Math.max(...figures.map((one) => Number((one as unknown as Partial<Felt>)[key] ?? Infinity)));
  if (flags.json)
    console.log(
      JSON.stringify(
        {
          isWell: process.exitCode === undefined,
          seconds: Number(flags.seconds),
          most: {
            grownMb: mostOf("grownMb"),
            stallMs: mostOf("stallMs"),
            stallCpuMs: mostOf("stallCpuMs"),
            machineMs: mostOf("machineMs"),
          },
          figures,
        },
        undefined,
        2,
      ),
    );
}

async function inProcess(mode: Mode): Promise<Felt | undefined> {
  // With a small young generation what grows is kept, and not only waste that nobody has collected yet.
  const args = [
    "-C",
    "source",
    "--expose-gc",
    "--max-semi-space-size=4",
    fileURLToPath(import.meta.url),
    "--mode",
    mode,
    "--seconds",
    flags.seconds,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit") as Promise<[number | null]>]);
  return code === 0 ? (JSON.parse(said) as Felt) : undefined;
}

function rulesBroken({ restarts, neighbour, grownMb, stallMs, stallCpuMs, machineMs }: Felt): string[] {
  const culprits = restarts.flatMap(({ culprit }) => culprit ?? []);
  return [
    ...(grownMb > GROWN_MB ? [`the gateway grew by ${grownMb} MB, and may by ${GROWN_MB}`] : []),
    ...(stallCpuMs > STALL_MS ? [`the gateway's event loop was kept for ${stallCpuMs} ms of CPU time`] : []),
    ...(stallMs > Math.max(STALL_MS, machineMs * MACHINE_FACTOR)
      ? [`the gateway's event loop stood still for ${stallMs} ms, and the control process's for ${machineMs} ms`]
      : []),
    ...(neighbour.worstMs > NEIGHBOUR_MS + machineMs * MACHINE_FACTOR ? [`a call of the neighbour took ${neighbour.worstMs} ms`] : []),
    ...(neighbour.calls === 0 || neighbour.wrong > 0 ? [`${neighbour.wrong} of ${neighbour.calls} calls of the neighbour went wrong`] : []),
    ...(neighbour.strikes > 0 ? ["the neighbour was blamed"] : []),
    ...(culprits.length > 0 ? [`a restart named ${culprits.join(", ")}`] : []),
    ...(restarts.length === 0 ? ["the sandbox was not replaced"] : []),
  ];
}

function summary({ restarts, calls, neighbour, grownMb, stallMs, stallCpuMs, machineMs, cpuShare }: Felt): string {
  return [
    `+${grownMb} MB`,
    `stall ${stallMs} ms (${stallCpuMs} ms CPU, control process ${machineMs} ms)`,
    `gateway ${Math.round(cpuShare * 100)} % of a CPU`,
    `neighbour ${neighbour.calls} calls, worst ${neighbour.worstMs} ms`,
    `${restarts.length} restarts${restarts[0] ? ` (${restarts[0].why.slice(0, 90)})` : ""}`,
    JSON.stringify(calls),
  ].join(", ");
}

/** Profiles for people: the author's lines where time or memory went. The texts are third parties'. */
import type { CpuProfile } from "../../host/inspect/cpu-profile.ts";
import type { HeapProfile } from "../../host/inspect/heap-profile.ts";
import { shortName } from "../../host/inspect/source-positions.ts";
import { oneLine } from "../../text/one-line.ts";
import { duration } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";

const LINES = 5;
const ROWS = 8;
/** A line that took less does not explain anything. */
const MIN_SHARE = 0.01;

export function cpuLines({ totalMs, isCut, lines }: Omit<CpuProfile, "file">, { line, paint, width }: Terminal): void {
  line(paint("bold", `Where the CPU time went`) + paint("gray", `  ${duration(totalMs)}${isCut ? ", then it was stopped" : ""}`));
  for (const { url, line: at, function: name, ms, share, code } of lines.filter((one) => one.share >= MIN_SHARE).slice(0, LINES)) {
    const place = `${oneLine(shortName(url))}:${at}`;
    line(
      `  ${paint("yellow", `${Math.round(share * 100)}%`.padStart(4))} ${duration(ms).padStart(8)}  ${paint("bold", place)}  ${oneLine(name)}`,
    );
    if (code !== undefined) line(paint("gray", `                 ${oneLine(code).slice(0, width - 18)}`));
  }
  if (lines.length === 0) line("  no sample is in the plugin's code: it took too little time");
}

export function heapLines({ beforeBytes, afterBytes, isCut, stack, grew }: Omit<HeapProfile, "file">, { line, paint }: Terminal): void {
  const how = isCut ? ", stopped past its limit" : "";
  line(paint("bold", "What the memory is full of") + paint("gray", `  ${size(beforeBytes)} → ${size(afterBytes)}${how}`));
  for (const { name, count, bytes } of grew.slice(0, ROWS))
    line(`  ${paint("yellow", `+${size(bytes)}`.padStart(10))} ${`+${count}`.padStart(9)}  ${oneLine(name)}`);
  if (grew.length === 0) line("  nothing grew");
  for (const [at, { url, line: number, function: name, code }] of stack.slice(0, LINES).entries()) {
    line(`  ${at === 0 ? "in" : "of"} ${paint("bold", `${oneLine(shortName(url))}:${number}`)}  ${oneLine(name)}`);
    if (at === 0 && code !== undefined) line(paint("gray", `     ${oneLine(code)}`));
  }
}

function size(bytes: number): string {
  return bytes < 2 ** 20 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

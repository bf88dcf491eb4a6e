/**
 * Trusted side: which of the author's lines a plugin has run, counted by V8 inside of the inspected cell. The answer
 * comes out of the sandbox, so a schema passes it first; the files are those of the source map, which sources.ts has
 * read from the plugin's own folder.
 */
import * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";
import { pluginScript } from "../../protocol/guest-surface/scripts.ts";
import { InspectSession } from "./session.ts";
import { SourcePositions } from "./source-positions.ts";

const offset = z.int().nonnegative();
const raw = z.object({
  result: z.array(
    z.object({
      scriptId: z.string().max(64),
      url: z.string().max(1_000),
      functions: z.array(
        z.object({
          functionName: z.string().max(1_000),
          ranges: z.array(z.object({ startOffset: offset, endOffset: offset, count: offset })),
        }),
      ),
    }),
  ),
});
type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number };
const source = z.object({ scriptSource: z.string() });

/** One file of the author's. */
export interface FileCoverage {
  /** A file URL, or the name in the source map. */
  readonly url: string;
  /** How often each line with code was run, by its number, which counts from 1. */
  readonly lines: ReadonlyMap<number, number>;
  readonly text: string;
}

/** The counts of one plugin, over all its loads. */
export class Coverage {
  readonly session = new InspectSession();
  readonly #files = new Map<string, FileCoverage & { readonly lines: Map<number, number> }>();

  /** The commands wait for the cell, and the plugin for the commands. */
  async start(): Promise<void> {
    await this.session.command("Profiler.enable");
    await this.session.command("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    await this.session.command("Runtime.runIfWaitingForDebugger");
  }

  /** V8 forgets what it has told: the counts are added up here. */
  async take(plugin: string): Promise<FileCoverage[]> {
    for (const { url, lines, text } of await takeCoverage(this.session, plugin)) {
      const known = this.#files.get(url) ?? { url, lines: new Map<number, number>(), text };
      this.#files.set(url, known);
      for (const [line, count] of lines) known.lines.set(line, (known.lines.get(line) ?? 0) + count);
    }
    return [...this.#files.values()];
  }
}

async function takeCoverage(session: InspectSession, plugin: string): Promise<FileCoverage[]> {
  const parsed = raw.safeParse(await session.command("Profiler.takePreciseCoverage"));
  if (!parsed.success) throw new CreelError("ERR_INSPECT_REFUSED", { detail: "its coverage is not valid" });
  const script = parsed.data.result.find(({ url }) => url === pluginScript(plugin));
  if (!script) return [];
  await session.command("Debugger.enable");
  const { scriptSource } = source.parse(await session.command("Debugger.getScriptSource", { scriptId: script.scriptId }));
  const ranges = script.functions.flatMap((one) => one.ranges);
  return byFile(scriptSource, ranges, new SourcePositions(session.mapUrl));
}

function byFile(code: string, ranges: readonly Range[], positions: SourcePositions): FileCoverage[] {
  const files = new Map<string, Map<number, number>>(positions.files.map((url) => [url, new Map()]));
  // V8 counts the columns of the first line from where the author's code begins; offsets from where the wrapper does.
  let start = 0;
  for (const [at, line] of code.split("\n").entries()) {
    const first = start + line.length - line.trimStart().length;
    const origin = line.trim() === "" || /^[\s})\];,]*$/.test(line) ? undefined : positions.inLine(at);
    const lines = origin && files.get(origin.url);
    if (lines) lines.set(origin.line, Math.max(lines.get(origin.line) ?? 0, countAt(first, ranges)));
    start += line.length + 1;
  }
  return Array.from(files, ([url, lines]) => ({ url, lines, text: positions.textOf(url)! }));
}

/** The innermost range decides. */
function countAt(at: number, ranges: readonly Range[]): number {
  let best: Range | undefined;
  for (const range of ranges)
    if (
      range.startOffset <= at &&
      at < range.endOffset &&
      (!best || range.endOffset - range.startOffset <= best.endOffset - best.startOffset)
    )
      best = range;
  return best?.count ?? 0;
}

/** As V8 reports a file, for tools that read its coverage: the author's file itself, with the counts of its lines. */
export function v8Coverage(files: readonly FileCoverage[]): object {
  const result = files
    .filter(({ url, lines }) => url.startsWith("file:") && lines.size > 0)
    .map(({ url, lines, text }, at) => {
      const ranges: Range[] = [{ startOffset: 0, endOffset: text.length, count: 1 }];
      let start = 0;
      for (const [index, line] of text.split("\n").entries()) {
        const end = start + line.length;
        const count = lines.get(index + 1) ?? 1;
        if (count !== 1) ranges.push({ startOffset: start, endOffset: end, count });
        start = end + 1;
      }
      return { scriptId: String(at), url, functions: [{ functionName: "", isBlockCoverage: true, ranges }] };
    });
  return { result };
}

/** The format of lcov, which editors and coverage services read. */
export function lcov(files: readonly FileCoverage[], nameOf: (url: string) => string): string {
  return files
    .filter(({ lines }) => lines.size > 0)
    .map(({ url, lines }) => {
      const rows = [...lines].toSorted(([a], [b]) => a - b);
      const hit = rows.filter(([, count]) => count > 0).length;
      return [
        `SF:${nameOf(url)}`,
        ...rows.map(([line, count]) => `DA:${line},${count}`),
        `LF:${rows.length}`,
        `LH:${hit}`,
        "end_of_record",
      ].join("\n");
    })
    .join("\n")
    .concat("\n");
}

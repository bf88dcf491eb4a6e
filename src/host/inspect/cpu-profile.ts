/**
 * Trusted side: where a plugin's CPU time went, by the author's lines. V8 samples the inspected cell while it works; the
 * positions are mapped to the author's files, in a form that Chrome DevTools opens. The profile comes out of the
 * sandbox, so a schema passes it first.
 */
import * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";
import { pluginScript } from "../../protocol/guest-surface/scripts.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { InspectSession } from "./session.ts";
import { SourcePositions } from "./source-positions.ts";

const index = z.int().nonnegative();
const rawProfile = z.object({
  profile: z.object({
    nodes: z
      .array(
        z.object({
          id: index,
          callFrame: z.object({
            functionName: z.string().max(1_000),
            scriptId: z.string().max(64),
            url: z.string().max(1_000),
            lineNumber: z.int(),
            columnNumber: z.int(),
          }),
          hitCount: index.default(0),
          children: z.array(index).optional(),
          positionTicks: z.array(z.object({ line: index, ticks: index })).optional(),
        }),
      )
      .max(LIMITS.inspect.profileNodes),
    startTime: z.number(),
    endTime: z.number(),
    samples: z.array(index).default([]),
    timeDeltas: z.array(z.number()).default([]),
  }),
});
type RawProfile = z.infer<typeof rawProfile>["profile"];
type RawNode = RawProfile["nodes"][number];

/** A line of the author's where time went. */
export interface HotLine {
  /** A file URL, or the name in the source map. */
  readonly url: string;
  readonly line: number;
  readonly function: string;
  readonly ms: number;
  /** Of all time in the plugin, from 0 to 1. */
  readonly share: number;
  /** The line's text; undefined: the source is not there. */
  readonly code: string | undefined;
}

export interface CpuProfile {
  /** In the plugin and all that it called. */
  readonly totalMs: number;
  /** It was stopped before it had ended. */
  readonly isCut: boolean;
  /** The most expensive first. */
  readonly lines: readonly HotLine[];
  /** The content of a `.cpuprofile`, for Chrome DevTools. */
  readonly file: string;
}

/** Samples the plugin while `work` goes on, for at most `maxMs`; then it is stopped. */
export async function profileCpu(
  session: InspectSession,
  plugin: string,
  work: () => Promise<unknown>,
  maxMs: number = LIMITS.inspect.profileMs,
): Promise<CpuProfile> {
  await session.command("Profiler.enable");
  await session.command("Profiler.setSamplingInterval", { interval: LIMITS.inspect.samplingUs });
  await session.command("Profiler.start");
  const clock = Promise.withResolvers<"late">();
  const timer = setTimeout(() => clock.resolve("late"), maxMs);
  const working = work();
  const isCut = (await Promise.race([working, clock.promise])) === "late";
  clearTimeout(timer);
  const answer = await session.command("Profiler.stop");
  if (isCut) {
    await session.terminate(working);
  }
  const parsed = rawProfile.safeParse(answer);
  if (!parsed.success) throw new CreelError("ERR_INSPECT_REFUSED", { detail: "its CPU profile is not valid" });
  return readProfile(parsed.data.profile, plugin, new SourcePositions(session.mapUrl), isCut);
}

function readProfile(profile: RawProfile, plugin: string, positions: SourcePositions, isCut: boolean): CpuProfile {
  const script = pluginScript(plugin);
  const msOf = timesOf(profile);
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const lines = new Map<string, HotLine>();
  let totalMs = 0;
  const add = (node: RawNode, line: number | undefined, ms: number): void => {
    totalMs += ms;
    const { lineNumber, columnNumber, functionName } = node.callFrame;
    const at = (line === undefined ? positions.at(lineNumber, columnNumber) : positions.inLine(line - 1)) ?? {
      url: script,
      line: line ?? lineNumber + 1,
    };
    const key = `${at.url}:${at.line}`;
    const before = lines.get(key)?.ms ?? 0;
    const named = functionName === "" ? "(anonymous)" : functionName;
    lines.set(key, { url: at.url, line: at.line, function: named, ms: before + ms, share: 0, code: positions.lineOf(at) });
  };
  for (const [id, ms] of msOf) {
    const leaf = byId.get(id);
    // A function of V8 or of Creel: its time is that of the author's function which called it.
    let node = leaf;
    while (node && node.callFrame.url !== script) node = parents.get(node.id);
    if (!node) continue;
    const ticks = node === leaf ? (node.positionTicks ?? []) : [];
    const all = ticks.reduce((sum, one) => sum + one.ticks, 0);
    if (all === 0) add(node, undefined, ms);
    else for (const one of ticks) add(node, one.line, (ms * one.ticks) / all);
  }
  const sorted = [...lines.values()].toSorted((a, b) => b.ms - a.ms).map((line) => ({ ...line, share: line.ms / totalMs }));
  return { totalMs, isCut, lines: sorted, file: JSON.stringify(mapped(profile, script, positions)) };
}

/** Milliseconds by node. */
function timesOf({ samples, timeDeltas }: RawProfile): Map<number, number> {
  const times = new Map<number, number>();
  // The time until the next sample belongs to a sample.
  for (const [at, id] of samples.entries()) {
    const us = Math.max(0, timeDeltas[at + 1] ?? 0);
    if (us > 0) times.set(id, (times.get(id) ?? 0) + us / 1000);
  }
  return times;
}

/** With the author's files and lines, so that DevTools shows them. */
function mapped(profile: RawProfile, script: string, positions: SourcePositions): object {
  const nodes = profile.nodes.map((node) => {
    const { callFrame, positionTicks } = node;
    if (callFrame.url !== script) return node;
    const at = positions.at(callFrame.lineNumber, callFrame.columnNumber);
    if (!at) return node;
    return {
      ...node,
      callFrame: { ...callFrame, url: at.url, lineNumber: at.line - 1, columnNumber: at.column - 1 },
      ...(positionTicks && {
        positionTicks: positionTicks.map(({ line, ticks }) => ({ line: positions.inLine(line - 1)?.line ?? line, ticks })),
      }),
    };
  });
  return { ...profile, nodes };
}

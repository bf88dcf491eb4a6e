/**
 * Trusted side: what a plugin's memory is full of. Two heap snapshots of the inspected cell, before the work and after
 * it, or in the middle of it when the heap has grown past its limit; and the constructors of which there are more in the
 * second. The snapshots come out of the sandbox: they are read as data, with bounds.
 */
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { InspectSession } from "./session.ts";
import { SourcePositions } from "./source-positions.ts";
import type { SourcePosition } from "./source-positions.ts";

/** Objects of one constructor, or strings and the like, of which there are more than before. */
export interface Growth {
  readonly name: string;
  readonly count: number;
  /** Without what they refer to. */
  readonly bytes: number;
}

export interface HeapProfile {
  readonly beforeBytes: number;
  readonly afterBytes: number;
  /** It grew past the limit and was stopped. */
  readonly isCut: boolean;
  /** Where it was then, the innermost function first. */
  readonly stack: readonly (SourcePosition & { readonly function: string; readonly code: string | undefined })[];
  /** The largest first. */
  readonly grew: readonly Growth[];
  /** The content of a `.heapsnapshot`, for Chrome DevTools. */
  readonly file: string;
}

const paused = z.object({
  callFrames: z.array(
    z.object({ functionName: z.string().max(1_000), location: z.object({ lineNumber: z.int(), columnNumber: z.int().default(0) }) }),
  ),
});
type Paused = z.infer<typeof paused>;
const usage = z.object({ usedSize: z.number() });
const chunk = z.object({ chunk: z.string() });
const graph = z.object({
  snapshot: z.object({
    meta: z.object({ node_fields: z.array(z.string()).min(1), node_types: z.tuple([z.array(z.string())], z.unknown()) }),
  }),
  // A million numbers: each is checked where it is used.
  nodes: z.custom<readonly unknown[]>((value) => Array.isArray(value)),
  strings: z.custom<readonly unknown[]>((value) => Array.isArray(value)),
});

/** `limitBytes`: the heap that the plugin has otherwise. Rejects with a CreelError if the cell says what is not valid. */
export async function profileHeap(session: InspectSession, work: () => Promise<unknown>, limitBytes: number): Promise<HeapProfile> {
  const invalid = Promise.withResolvers<never>();
  const listen: Listen = (method, schema, hear) =>
    session.on(method, (params) => {
      const { success, data } = schema.safeParse(params);
      if (success) hear(data);
      else invalid.reject(notValid(method));
    });
  try {
    return await Promise.race([measured(session, listen, work, limitBytes), invalid.promise]);
  } catch (error) {
    throw error instanceof z.ZodError || error instanceof SyntaxError ? notValid("its heap snapshot") : error;
  }
}

/** What the cell says without being asked comes in no call of ours that could throw. */
type Listen = <T>(method: string, schema: z.ZodType<T>, hear: (params: T) => void) => void;

function notValid(what: string): CreelError {
  return new CreelError("ERR_INSPECT_REFUSED", { detail: `${what} is not valid` });
}

async function measured(session: InspectSession, listen: Listen, work: () => Promise<unknown>, limitBytes: number): Promise<HeapProfile> {
  let stopped: Paused | undefined;
  const hasPaused = Promise.withResolvers<void>();
  listen("Debugger.paused", paused, (params) => {
    stopped = params;
    hasPaused.resolve();
  });
  await session.command("HeapProfiler.enable");
  await session.command("Debugger.enable");
  const before = sizesOf(await snapshot(session, listen));
  const state = { isOver: false };
  const working = work().finally(() => (state.isOver = true));
  const deadline = performance.now() + LIMITS.inspect.profileMs * 6;
  let isCut = false;
  while (!state.isOver && !isCut) {
    const { usedSize } = usage.parse(await session.command("Runtime.getHeapUsage"));
    isCut = usedSize > limitBytes || performance.now() > deadline;
    if (!isCut) await Promise.race([working, wait(LIMITS.inspect.heapPollMs)]);
  }
  if (isCut) {
    await session.command("Debugger.pause");
    await Promise.race([hasPaused.promise, working]);
  }
  const file = await snapshot(session, listen);
  if (isCut) {
    // V8 answers when the turn has ended, for which the plugin has to go on. A call that does not end is not waited for.
    const terminated = session.terminate(working);
    if (stopped) session.command("Debugger.resume").catch(() => {});
    await terminated;
  } else await working;
  const after = sizesOf(file);
  const positions = new SourcePositions(session.mapUrl);
  return {
    beforeBytes: total(before),
    afterBytes: total(after),
    isCut,
    stack: (stopped?.callFrames ?? []).flatMap(({ functionName, location: { lineNumber, columnNumber } }) => {
      const at = positions.at(lineNumber, columnNumber);
      return at ? [{ ...at, function: functionName === "" ? "(anonymous)" : functionName, code: positions.lineOf(at) }] : [];
    }),
    grew: growth(before, after),
    file,
  };
}

async function snapshot(session: InspectSession, listen: Listen): Promise<string> {
  const parts: string[] = [];
  let chars = 0;
  listen("HeapProfiler.addHeapSnapshotChunk", chunk, ({ chunk: part }) => {
    chars += part.length;
    if (chars <= LIMITS.inspect.snapshotBytes) parts.push(part);
  });
  await session.command("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  if (chars > LIMITS.inspect.snapshotBytes) throw new CreelError("ERR_INSPECT_REFUSED", { detail: `its heap snapshot has ${chars} bytes` });
  return parts.join("");
}

type Sizes = ReadonlyMap<string, { count: number; bytes: number }>;

/** By constructor; strings, code and the like by their kind. */
function sizesOf(text: string): Sizes {
  const { snapshot: head, nodes, strings } = graph.parse(JSON.parse(text));
  const { node_fields: fields, node_types: types } = head.meta;
  const [kinds] = types;
  const at = (name: string): number => fields.indexOf(name);
  const [type, name, self] = [at("type"), at("name"), at("self_size")];
  const sizes = new Map<string, { count: number; bytes: number }>();
  for (let node = 0; node < nodes.length; node += fields.length) {
    const kind = String(kinds[Number(nodes[node + type])]);
    const key = kind === "object" ? String(strings[Number(nodes[node + name])]).slice(0, 200) : `(${kind})`;
    const known = sizes.get(key);
    const bytes = Number(nodes[node + self]) || 0;
    if (known) {
      known.count += 1;
      known.bytes += bytes;
    } else sizes.set(key, { count: 1, bytes });
  }
  return sizes;
}

function total(sizes: Sizes): number {
  return [...sizes.values()].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Below this, V8's own bookkeeping is most of it. */
const MIN_BYTES = 1_024;

function growth(before: Sizes, after: Sizes): Growth[] {
  return Array.from(after, ([name, { count, bytes }]) => {
    const old = before.get(name);
    return { name, count: count - (old?.count ?? 0), bytes: bytes - (old?.bytes ?? 0) };
  })
    .filter(({ bytes }) => bytes >= MIN_BYTES)
    .toSorted((a, b) => b.bytes - a.bytes);
}

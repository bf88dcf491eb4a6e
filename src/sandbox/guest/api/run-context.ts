/**
 * Inside the isolate: `api.runContext`, a plugin's notes about a run of an agent, by run and namespace. They stay in the
 * plugin's own cell, on its heap, so no permission is needed. The oldest run is forgotten first; a cell that is rebuilt
 * has none.
 */
import { bare, mapDelete, mapGet, mapSet, NativeMap, parse, stringify } from "../boot/primordials.ts";

/** Runs whose notes are kept. */
const MAX_RUNS = 256;
const runs = new NativeMap<string, Record<string, string>>();
/** In the order of their first note. */
let order: string[] = [];

interface Patch {
  runId?: unknown;
  namespace?: unknown;
  value?: unknown;
  unset?: unknown;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** False: it was not kept, because a name is missing or the value is not data. */
function setRunContext(patch: Patch): boolean {
  const { runId, namespace, value, unset } = patch ?? {};
  if (!isName(runId) || !isName(namespace)) return false;
  if (unset === true) {
    clearRunContext({ runId, namespace });
    return true;
  }
  const text = stringify(value) as string | undefined;
  if (text === undefined) return false;
  let notes = mapGet(runs, runId);
  if (!notes) {
    if (order.length >= MAX_RUNS) forget(order[0]!);
    order[order.length] = runId;
    mapSet(runs, runId, (notes = bare({})));
  }
  notes[namespace] = text;
  return true;
}

/** A copy: changing it changes nothing. */
function getRunContext(asked: Patch): unknown {
  const { runId, namespace } = asked ?? {};
  const text = isName(runId) && isName(namespace) ? mapGet(runs, runId)?.[namespace] : undefined;
  return text === undefined ? undefined : parse(text);
}

function clearRunContext(asked: Patch): void {
  const { runId, namespace } = asked ?? {};
  if (!isName(runId)) return;
  if (isName(namespace)) delete mapGet(runs, runId)?.[namespace];
  else forget(runId);
}

function forget(runId: string): void {
  mapDelete(runs, runId);
  const kept: string[] = [];
  for (let i = 0; i < order.length; i++) if (order[i] !== runId) kept[kept.length] = order[i]!;
  order = kept;
}

export const runContext = { setRunContext, getRunContext, clearRunContext };

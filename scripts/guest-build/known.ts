/**
 * Build time: writes constants into the guest that are known when it is built. Every cell runs the bootstrap, and V8
 * builds a large object property by property: the table of limits alone took 0.1 ms, for a handful of numbers.
 */
import type { RolldownPlugin } from "rolldown";
import { LIMITS } from "../../src/protocol/limits.ts";
import * as surface from "../../src/protocol/guest-surface/surface.ts";

const OURS = /[\\/]src[\\/](?:sandbox[\\/]guest|protocol)[\\/]/;

export function known(): RolldownPlugin {
  return { name: "creel-known", transform: (code, id) => (OURS.test(id) ? withValues(code) : null) };
}

/** Replaces a limit by its number, and `pairs` of a table by its result. */
export function withValues(code: string): string {
  return code
    .replaceAll(/\bLIMITS\.(\w+)\.(\w+)\b/g, (text, group: string, name: string) => {
      const value = (LIMITS as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[group]?.[name];
      return typeof value === "number" ? `(${value})` : text;
    })
    .replaceAll(/\bpairs\((GUEST_\w+)\)/g, (text, name: string) => {
      const table = (surface as Readonly<Record<string, unknown>>)[name];
      return typeof table === "object" ? JSON.stringify(surface.pairs(table as Readonly<Record<string, string>>)) : text;
    });
}

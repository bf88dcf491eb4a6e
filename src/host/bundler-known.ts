/**
 * Bundler process: what is known when the guest is built is written into it. Every cell runs the bootstrap, and V8 makes a large object property by property: the table of limits alone
 * took a tenth of a millisecond, for a handful of numbers.
 */
import type { RolldownPlugin } from "rolldown";
import { LIMITS } from "../protocol/limits.ts";
import * as surface from "../protocol/surface.ts";

const OURS = /[\\/]src[\\/](?:sandbox[\\/]guest|protocol)[\\/]/;

export function known(): RolldownPlugin {
  return { name: "creel-known", transform: (code, id) => (OURS.test(id) ? withValues(code) : null) };
}

/** A limit becomes its number, and `pairs` of a table what it gives. */
export function withValues(code: string): string {
  return code
    .replaceAll(/\bLIMITS\.(\w+)\b/g, (text, name: string) => {
      const value = (LIMITS as Readonly<Record<string, unknown>>)[name];
      return typeof value === "number" ? `(${value})` : text;
    })
    .replaceAll(/\bpairs\((GUEST_\w+)\)/g, (text, name: string) => {
      const table = (surface as Readonly<Record<string, unknown>>)[name];
      return typeof table === "object" ? JSON.stringify(surface.pairs(table as Readonly<Record<string, string>>)) : text;
    });
}

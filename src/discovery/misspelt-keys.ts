/**
 * Trusted side: keys of a configuration that are one letter away from a known one, or written in another case. Others are left alone, since
 * OpenClaw has keys that Creel does not; but `plugin` in the place of `plugins` would open a host without guards, and `requird` one whose filter is not required.
 */
import type * as z from "zod";
import { nearest } from "../text/did-you-mean.ts";

export interface Misspelt {
  /** Its path. */
  readonly field: string;
  readonly detail: string;
}

/** The definition of a zod schema, as far as it is read here. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
}

/** OpenClaw's own keys that are one letter away from one of Creel's. */
const OF_OPENCLAW: ReadonlySet<string> = new Set(["audio"]);

/** The first one; undefined: there is none. */
export function misspeltKey(schema: z.core.$ZodType, value: unknown, path = ""): Misspelt | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { innerType, valueType, shape } = schema._zod.def as Definition;
  if (innerType) return misspeltKey(innerType, value, path);
  for (const [name, inner] of Object.entries(value)) {
    const field = path === "" ? name : `${path}.${name}`;
    const below = valueType ?? (shape && Object.hasOwn(shape, name) ? shape[name] : undefined);
    const near = shape && !below && !OF_OPENCLAW.has(field) ? nearest(name, Object.keys(shape)) : undefined;
    if (near !== undefined) return { field, detail: `there is no such key; did you mean "${near}"?` };
    const found = below && misspeltKey(below, inner, field);
    if (found) return found;
  }
  return undefined;
}

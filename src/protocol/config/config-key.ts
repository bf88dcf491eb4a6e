/**
 * An optional key of a configuration, with its meaning. docs/reference/config.md and the JSON Schema for editors are
 * made from it.
 */
import type * as z from "zod";

export interface KeyNotes {
  /** The value if the key is left out. */
  readonly default?: string | number | boolean;
  /** OpenClaw has the same key, with the same meaning. */
  readonly openclaw?: true;
}

export const OPENCLAW = { openclaw: true } as const satisfies KeyNotes;

export function key<T extends z.ZodType>(schema: T, description: string, notes: KeyNotes = {}): z.ZodOptional<T> {
  return schema.optional().meta({ description, ...notes });
}

/** A key of a configuration that may be left out, with what it means: docs/config.md and the schema for editors are made of it. */
import type * as z from "zod";

export interface KeyNotes {
  /** What holds if it is left out. */
  readonly default?: string | number | boolean;
  /** OpenClaw has the same key, with the same meaning. */
  readonly openclaw?: true;
}

export const OPENCLAW = { openclaw: true } as const satisfies KeyNotes;

export function key<T extends z.ZodType>(schema: T, description: string, notes: KeyNotes = {}): z.ZodOptional<T> {
  return schema.optional().meta({ description, ...notes });
}

/**
 * Trusted side: result fields that the hook does not know. The schema drops them; the author must learn of a misspelt `block`. The known
 * fields of a hook are computed once, so a result without unknown fields costs one lookup for each of its keys.
 */
import * as z from "zod";
import type { AnyHook } from "../../protocol/catalog.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { oneLine } from "../../text/one-line.ts";

/** By field; undefined where any field is allowed. */
export type Known = ReadonlyMap<string, Known | undefined>;

/** Enough to help an author; a plugin may send thousands. */
const MAX_IGNORED = 8;

const known = new WeakMap<AnyHook, Known | "anything">();

/** The fields that the hook's result may have; undefined: any. */
export function knownFields(hook: AnyHook): Known | undefined {
  let fields = known.get(hook);
  if (!fields) known.set(hook, (fields = fieldsOf(hook.result) ?? "anything"));
  return fields === "anything" ? undefined : fields;
}

/**
 * The paths of the unknown fields; undefined, and nothing allocated, when there are none. Fields of the event that come back unchanged
 * are not listed: authors often write `{ ...event, content }`.
 */
export function ignoredFields(hook: AnyHook, answer: unknown, event: unknown): readonly string[] | undefined {
  const fields = knownFields(hook);
  return fields && look(fields, answer, event, "", undefined);
}

function look(fields: Known, value: unknown, event: unknown, path: string, before: string[] | undefined): string[] | undefined {
  let found = before;
  if (typeof value !== "object" || value === null) return found;
  for (const key in value) {
    const inner = fields.get(key);
    if (inner) found = look(inner, at(value, key), at(event, key), `${path}${key}.`, found);
    else if (!fields.has(key) && (found?.length ?? 0) < MAX_IGNORED && !isEcho(at(value, key), at(event, key)))
      (found ??= []).push(path + oneLine(key, LIMITS.call.nameChars));
  }
  return found;
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

/** Objects are not compared: that would cost too much. */
function isEcho(value: unknown, original: unknown): boolean {
  return typeof value === "object" ? typeof original === "object" : value === original;
}

function fieldsOf(schema: z.ZodType): Known | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return fieldsOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in as z.ZodType);
  // All alternatives together: the host does not know which one the author meant.
  if (schema instanceof z.ZodUnion) {
    const all = schema.options.map((option) => fieldsOf(option as z.ZodType));
    return all.every((fields) => fields !== undefined) ? new Map(all.flatMap((fields) => [...fields])) : undefined;
  }
  if (!(schema instanceof z.ZodObject) || schema.def.catchall instanceof z.ZodUnknown) return undefined;
  const shape = schema.shape as Record<string, z.ZodType>;
  return new Map(Object.entries(shape).map(([field, inner]) => [field, fieldsOf(inner)]));
}

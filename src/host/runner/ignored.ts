/**
 * Trusted side: fields of a result that its hook does not know. A schema drops them; a misspelt `block` must not go in silence.
 * What a hook knows is worked out once, so that a result without such fields costs one look at each of its keys.
 */
import * as z from "zod";
import type { AnyHook } from "../../protocol/catalog.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { oneLine } from "../guest-error.ts";

/** By field; undefined where any field may stand. */
export type Known = ReadonlyMap<string, Known | undefined>;

/** As many as help an author; a plugin may send thousands. */
const MAX_IGNORED = 8;

const known = new WeakMap<AnyHook, Known | "anything">();

/** What the hook's result may hold; undefined: anything. */
export function knownFields(hook: AnyHook): Known | undefined {
  let fields = known.get(hook);
  if (!fields) known.set(hook, (fields = fieldsOf(hook.result) ?? "anything"));
  return fields === "anything" ? undefined : fields;
}

/**
 * The fields that do not count, as paths; undefined, and nothing made for it, when there are none. Fields of the event that
 * come back as they were do not mean anything: `{ ...event, content }` is a habit.
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
      (found ??= []).push(path + oneLine(key, LIMITS.nameChars));
  }
  return found;
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

/** Objects are not compared: that would cost more than it tells. */
function isEcho(value: unknown, original: unknown): boolean {
  return typeof value === "object" ? typeof original === "object" : value === original;
}

function fieldsOf(schema: z.ZodType): Known | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return fieldsOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in as z.ZodType);
  // The alternatives together: which one was meant is not known.
  if (schema instanceof z.ZodUnion) {
    const all = schema.options.map((option) => fieldsOf(option as z.ZodType));
    return all.every((fields) => fields !== undefined) ? new Map(all.flatMap((fields) => [...fields])) : undefined;
  }
  if (!(schema instanceof z.ZodObject) || schema.def.catchall instanceof z.ZodUnknown) return undefined;
  const shape = schema.shape as Record<string, z.ZodType>;
  return new Map(Object.entries(shape).map(([field, inner]) => [field, fieldsOf(inner)]));
}

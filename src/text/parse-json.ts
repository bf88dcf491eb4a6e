/** Pure: untrusted JSON by a schema. Text that is not JSON fails the schema as `undefined` does. */
import type * as z from "zod";

export function parseJson<T extends z.ZodType>(schema: T, text: string | undefined): z.ZodSafeParseResult<z.output<T>> {
  let value: unknown;
  try {
    value = text === undefined ? undefined : JSON.parse(text);
  } catch {
    value = undefined;
  }
  return schema.safeParse(value);
}

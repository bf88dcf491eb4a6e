/** The first complaint of a schema, as the `field` and `detail` of an error message. */
import type * as z from "zod";

export function firstIssue(error: z.ZodError): { field: string; detail: string } {
  const issue = error.issues[0]!;
  return { field: issue.path.map(String).join(".") || "(whole value)", detail: issue.message };
}

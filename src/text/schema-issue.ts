/** The first complaint of a schema, as the `field` and `detail` of an error message. */
import type * as z from "zod";

type Issue = z.core.$ZodIssue;

export function firstIssue(error: z.ZodError): { field: string; detail: string } {
  const { path, message } = deepest(error.issues[0]!);
  return { field: path.map(String).join(".") || "(whole value)", detail: message };
}

/** All of them. `keys` are those that the schema does not have. */
export function issuesOf(error: z.ZodError): { path: (string | number)[]; message: string; keys?: readonly string[] }[] {
  return error.issues.map((issue) => {
    const { path, message } = deepest(issue);
    const steps = path.map((step) => (typeof step === "symbol" ? String(step) : step));
    return { path: steps, message, ...(issue.code === "unrecognized_keys" && { keys: issue.keys }) };
  });
}

/** Of the alternatives of a union, the one that came furthest is the one that was meant. */
function deepest(issue: Issue): Pick<Issue, "path" | "message"> {
  if (issue.code !== "invalid_union") return issue;
  let best: Pick<Issue, "path" | "message"> = issue;
  for (const [first] of issue.errors) {
    if (!first) continue;
    const inner = deepest(first);
    const path = [...issue.path, ...inner.path];
    if (path.length > best.path.length) best = { path, message: inner.message };
  }
  return best;
}

/** The kinds of functions that plugins declare. Apart from their schemas, which readers of the lock do not need. */
export const FUNCTION_KINDS = ["tool", "command", "method", "route", "cli", "service", "job"] as const;
export type FunctionKind = (typeof FUNCTION_KINDS)[number];

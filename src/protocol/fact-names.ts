/**
 * The names of the facts that a host publishes to its listeners. No imports: the command line reads this file before it
 * knows which command it runs.
 */
export const FACT_NAMES = [
  "begun",
  "call",
  "run",
  "aborted",
  "log",
  "plugin",
  "replaced",
  "moved",
  "recursion",
  "quarantine",
  "secret",
  "refused",
  "delivery",
  "approval",
  "restart",
] as const;

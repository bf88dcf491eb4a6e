/** What a host tells its listeners about, by name. Without imports: the command line reads it before it knows which command was meant. */
export const FACT_NAMES = ["call", "run", "log", "plugin", "replaced", "recursion", "quarantine", "secret", "refused", "restart"] as const;

/** The order of LOG_LEVELS in protocol/messages.ts, which imports zod and so stays outside the isolate. A test keeps them equal. */
export const LOG_LEVELS_ORDER = ["debug", "info", "warn", "error"] as const;

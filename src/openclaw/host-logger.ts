/** Trusted side: Creel's log lines in the gateway's log, one line each, with the prefix `creel:`. */
import type { Logger } from "../host/report/log.ts";
import type { GatewayLogger } from "./gateway-api.ts";

export function hostLogger(logger: GatewayLogger): Logger {
  return {
    debug: (fields: object, message?: string) => logger.debug?.(lineOf(fields, message)),
    info: (fields: object, message?: string) => logger.info(lineOf(fields, message)),
    warn: (fields: object, message?: string) => logger.warn(lineOf(fields, message)),
    error: (fields: object, message?: string) => logger.error(lineOf(fields, message)),
  };
}

function lineOf(fields: object, message = ""): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (shown.length === 0) return `creel: ${message}`;
  const text = JSON.stringify(Object.fromEntries(shown), (_, value: unknown) => (value instanceof Error ? value.message : value));
  return `creel: ${message} ${text}`;
}

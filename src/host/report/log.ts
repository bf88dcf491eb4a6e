/** Trusted side: structured logs. A constant phrase, variables in fields with fixed names. */
import { createRequire } from "node:module";
import type Pino from "pino";
import type { HostEvents } from "./events.ts";

type LogMethod = (fields: object, message: string) => void;

/** The part of a logger that the host uses; pino has it. */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
}

/** For gateways that pass no logger: warnings and errors on stderr, so that stdout stays the gateway's. */
export function defaultLogger(): Logger {
  let made: Logger | undefined;
  // pino is 30 modules, and most hosts have nothing to say: it is loaded for the first line.
  const logger = (): Logger => {
    if (made) return made;
    const { pino } = createRequire(import.meta.url)("pino") as typeof Pino;
    return (made = pino({ name: "creel", level: "warn" }, pino.destination({ dest: 2, sync: true })));
  };
  return {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => logger().warn(fields, message),
    error: (fields, message) => logger().error(fields, message),
  };
}

export function logFacts(events: HostEvents, logger: Logger): void {
  events.on("log", ({ plugin, level, text, runId }) => logger[level]({ plugin, runId, text }, "plugin log"));
  events.on("recursion", ({ plugin, sessionKey, limit, chain }) =>
    logger.error({ plugin, sessionKey, limit, chain: chain.path }, "a loop was stopped"),
  );
  events.on("plugin", ({ plugin, status, error, diagnostics }) => {
    if (status === "failed") logger.error({ plugin, error }, "a plugin did not load");
    else if (error !== undefined && status !== "quarantined")
      return logger.error({ plugin, status, error }, "a new version of a plugin was not taken in");
    else logger.info({ plugin, status }, "plugin state");
    for (const diagnostic of diagnostics) logger.warn({ plugin, diagnostic }, "a registration was not accepted");
  });
  events.on("replaced", ({ plugin, why }) => logger.warn({ plugin, why }, "a cell was replaced"));
  events.on("moved", ({ plugin, lane, why }) => logger.warn({ plugin, lane, why }, "a plugin was moved to the slow lane"));
  events.on("quarantine", ({ plugin, state, why, until }) =>
    logger[state === "quarantined" ? "error" : "warn"]({ plugin, state, why, until }, "a plugin's breaker changed"),
  );
  events.on("secret", ({ plugin, secret, origin, what }) => {
    if (what === "sent") logger.debug({ plugin, secret, origin }, "a secret was sent");
    else logger.warn({ plugin, secret, origin }, "a secret was taken out of an answer");
  });
  events.on("restart", ({ why, lanes, culprit }) => logger.error({ why, lanes, plugin: culprit }, "the sandbox was restarted"));
}

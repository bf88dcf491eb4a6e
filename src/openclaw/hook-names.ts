/** Trusted side: which of a plugin's hooks OpenClaw has under the same name, and how the bridge provides the others. */
import { CATALOG } from "../protocol/catalog.ts";
import type { AnyHook } from "../protocol/catalog.ts";

/** `typed`: `api.on`; `internal`: `api.registerHook`; `derived`: made from other hooks by derived-events.ts. */
export type HookRoute = "typed" | "internal" | "derived" | "none";

const DERIVED: ReadonlySet<string> = new Set([
  "session:start",
  "session:end",
  "tool:start",
  "tool:update",
  "tool:result",
  "tool",
  "agent:event",
  "beforeTurn",
  "afterTurn",
  "onTurnError",
  "before_agent_start",
]);
/** OpenClaw removed it, and nothing takes its place. */
const REMOVED: ReadonlySet<string> = new Set(["subagent_spawning"]);

export function routeOf(key: string): HookRoute {
  if (DERIVED.has(key)) return "derived";
  if (REMOVED.has(key)) return "none";
  const hook = hookOf(key);
  if (!hook) return "internal";
  return hook.internal ? "internal" : "typed";
}

/** Undefined: a family of internal events, such as `command`. */
export function hookOf(key: string): AnyHook | undefined {
  return (CATALOG as Readonly<Record<string, AnyHook>>)[key];
}

/** OpenClaw lets a call pass when a handler is missing, and blocks it when one of these throws. */
export function isGate(key: string): boolean {
  const hook = hookOf(key);
  return routeOf(key) === "typed" && hook?.failure === "closed";
}

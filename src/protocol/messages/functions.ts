/**
 * Functions that a plugin declares while it registers, for the host to call later: tools, commands, gateway methods,
 * HTTP routes, command lines, services, jobs. A call of one travels like a run of one handler, with the same budgets, so each kind has the
 * definition of a hook. They are no hooks, though: plugins cannot listen to them, and the catalog does not list them.
 */
import * as z from "zod";
import { defineHook } from "../hooks/define.ts";
import { LIMITS } from "../limits.ts";
import type { CallError } from "../outcome.ts";
import type { FunctionKind } from "./function-kinds.ts";
import type { CallStatus } from "./host-lane.ts";

const event = z.object({ args: z.array(z.unknown()) });
const context = z.record(z.string(), z.unknown());
/** Any JSON. The plugin's `bytesOut` bounds its length. */
const result = z.object({ value: z.unknown().optional().refine(isShallow, "it nests too deep") });

function definition<const Kind extends FunctionKind>(name: Kind, summary: string, wallMs: number) {
  return defineHook({ name, kind: "modify", summary, event, context, result, merge: { value: { rule: "last" } }, budget: { wallMs } });
}

/** By kind. Operators set budgets by these names: `hooks.timeouts.tool`. */
export const FUNCTION_HOOKS = {
  tool: definition("tool", "A tool for agents.", LIMITS.plugin.functionWallMs),
  command: definition("command", "A command for users.", LIMITS.plugin.functionWallMs),
  method: definition("method", "A method of the gateway.", LIMITS.plugin.functionWallMs),
  route: definition("route", "A path of the gateway's HTTP server.", LIMITS.plugin.functionWallMs),
  cli: definition("cli", "A command line for the operator.", LIMITS.plugin.functionWallMs),
  service: definition("service", "Something that is started with the host and stopped with it.", LIMITS.call.awaitedWallMs),
  job: definition("job", "Work at a later time.", LIMITS.plugin.functionWallMs),
} as const satisfies Record<FunctionKind, unknown>;

const text = z.string().max(LIMITS.plugin.declarationChars);

/** What a plugin says about a function, per kind, as it comes out of its cell. */
export const FUNCTION_ABOUT = {
  tool: z.object({
    label: z.string().max(LIMITS.call.nameChars).optional(),
    description: text.optional(),
    /** JSON Schema. */
    parameters: z.record(z.string(), z.unknown()).refine(isShallow, "it nests too deep").optional(),
    /** Only for agents whose gateway allows it by name. */
    optional: z.boolean().optional(),
  }),
  command: z.object({
    description: text.optional(),
    acceptsArgs: z.boolean().optional(),
    requireAuth: z.boolean().optional(),
  }),
  method: z.object({ scope: z.string().max(LIMITS.call.nameChars).optional() }),
  /** Its name is the path. `auth: "plugin"`: the gateway lets everybody through, and the plugin checks. */
  route: z.object({ auth: z.enum(["gateway", "plugin"]), match: z.enum(["exact", "prefix"]) }),
  cli: z.object({ description: text.optional() }),
  service: z.object({}),
  job: z.record(z.string(), z.unknown()).refine(isShallow, "it nests too deep"),
} as const satisfies Record<FunctionKind, z.ZodType>;

export type FunctionAbout<K extends FunctionKind> = z.output<(typeof FUNCTION_ABOUT)[K]>;

/**
 * SECURITY: data that nests too deep overflows the stack of any code that walks it, such as JSON.stringify.
 * test/contract/functions.test.ts
 */
export function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > LIMITS.plugin.functionDepth) return false;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? (Object.values(item) as unknown[]) : []));
  }
  return true;
}

/** The outcome of a function call. */
export interface FunctionOutcome {
  readonly runId: string;
  readonly plugin: string;
  readonly kind: FunctionKind;
  readonly name: string;
  readonly status: CallStatus;
  /** What it returned. Undefined unless the status is `ok`. */
  readonly value: unknown;
  readonly error: CallError | undefined;
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * What a lane may decide by itself between two handlers of a chain, as data derived from the catalog. A lane continues
 * past a result only if it can judge every field of it exactly. Otherwise it stops and lets the host decide. The host
 * judges every result again in any case: this only saves hops.
 */
import * as z from "zod";
import type { AnyHook } from "../hooks/define.ts";

export type PlainType = "string" | "boolean" | "object";

export interface ChainRule {
  /** Result fields whose whole schema is "a string", "a boolean" or "an object". */
  readonly fields: Readonly<Record<string, PlainType>>;
  /** A result with this field of this value ends the chain. */
  readonly terminal?: readonly [field: string, equals: string | true];
  /** The host judges a handler's null. */
  readonly stopsAtNull?: true;
  /** [result field, event field, how] */
  readonly chains: readonly (readonly [field: string, into: string, how: "replace" | "assign"])[];
  /** See HookDefinition. */
  readonly echo?: string;
}

export function chainRule(hook: AnyHook): ChainRule {
  const shape = hook.result instanceof z.ZodObject ? (hook.result.shape as Record<string, z.ZodType>) : {};
  const fields: Record<string, PlainType> = {};
  for (const [field, schema] of Object.entries(shape)) {
    const type = plainType(schema);
    // The host judges fields that freeze others, because they change how later results count, and requests, because
    // they go to the user.
    const { freezes, rule } = hook.merge[field] ?? {};
    if (type && !freezes && rule !== "each") fields[field] = type;
  }
  const chains: [string, string, "replace" | "assign"][] = [];
  for (const [field, merge] of Object.entries(hook.merge)) {
    if (!merge.chains) continue;
    if (merge.rule === "last" || merge.rule === "assign")
      chains.push([field, merge.chains, merge.rule === "assign" ? "assign" : "replace"]);
    else delete fields[field];
  }
  return {
    fields,
    chains,
    ...(hook.terminal && { terminal: [hook.terminal.field, hook.terminal.equals ?? true] as const }),
    ...(hook.nullIs && { stopsAtNull: true as const }),
    ...(hook.echo && { echo: hook.echo }),
  };
}

/** The JSON type that the schema accepts exactly, if there is one. */
function plainType(schema: z.ZodType): PlainType | undefined {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (inner.def.checks?.length) return undefined;
  if (inner instanceof z.ZodString) return "string";
  if (inner instanceof z.ZodBoolean) return "boolean";
  if (inner instanceof z.ZodRecord && inner.valueType instanceof z.ZodUnknown) return "object";
  return undefined;
}

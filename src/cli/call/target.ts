/** What `creel call` calls: a hook, or a function that a plugin has declared, written as `tool:search`. */
import type { FunctionTarget } from "../../host/functions/function-calls.ts";
import { CATALOG } from "../../protocol/catalog.ts";
import { UsageError } from "../options.ts";

const KINDS = ["tool", "command", "method", "route", "cli", "job"] as const;

export interface FunctionCall {
  readonly target: FunctionTarget;
  readonly argument: unknown;
}

/** Undefined: the word is the name of a hook. */
export function targetOf(word: string | undefined, extra: string | undefined): FunctionTarget | undefined {
  // Names of hooks have colons, too: session:end.
  if (word !== undefined && Object.hasOwn(CATALOG, word)) return undefined;
  const [, kind, name = ""] = /^([a-z]+):(.*)$/s.exec(word ?? "") ?? [];
  if (kind === undefined) return undefined;
  const fix = `such as "creel call tool:search --argument '{}'"; the kinds are ${KINDS.join(", ")}`;
  if (!KINDS.some((known) => known === kind) || name === "") throw new UsageError(`there is nothing to call named "${word}"`, fix);
  if (extra !== undefined) throw new UsageError(`call takes one name, but got "${extra}", too`, fix);
  return { [kind]: name } as unknown as FunctionTarget;
}

/** Commands take text, all others JSON. */
export function argumentOf(target: FunctionTarget, text: string | undefined): unknown {
  if ("command" in target) return text ?? "";
  if (text === undefined) return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(`the argument is not JSON: ${(error as Error).message}`, "give it as JSON in quotes: --argument '{…}'");
  }
}

/**
 * The input of `creel call`: the hook's name, and its event and context as JSON, from a file or from stdin. Errors name
 * the source.
 */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { suggest } from "../../text/did-you-mean.ts";
import { prepare } from "../../host/run/prepare.ts";
import { CATALOG } from "../../protocol/catalog.ts";
import type { AnyHook, HookName } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import { sampleEvent } from "../../protocol/rules/samples.ts";
import { eventText } from "../init/scaffold.ts";
import { UsageError } from "../options.ts";
import { contextFor } from "../../host/run/absent-context.ts";

export interface CallInput {
  readonly hook: HookName;
  readonly event: Record<string, unknown>;
  readonly ctx: Record<string, unknown> | undefined;
}

export function findHook(name: string | undefined, extra: string | undefined): AnyHook & { readonly name: HookName } {
  const fix = '"creel help hooks" lists the hooks';
  if (name === undefined || extra !== undefined) throw new UsageError("expected the name of one hook, such as before_tool_call", fix);
  if (!Object.hasOwn(CATALOG, name)) throw new UsageError(`there is no hook named "${name}"${suggest(name, Object.keys(CATALOG))}`, fix);
  return CATALOG[name as HookName];
}

/** The smallest event that the hook takes. */
export function exampleOf(hook: AnyHook): Record<string, unknown> {
  return sampleEvent(hook);
}

/** An event to try it with, on one line; undefined: it is no hook of the catalog's. */
export function sampleOf(name: string): string | undefined {
  return Object.hasOwn(CATALOG, name) ? eventText(CATALOG[name as HookName]) : undefined;
}

export async function readInput(
  hook: AnyHook & { readonly name: HookName },
  event: string | undefined,
  ctx: string | undefined,
): Promise<CallInput> {
  const fix = `"creel call ${hook.name} --example" prints an example event`;
  if (event === undefined) throw new UsageError("an event is required: --event with JSON, @file, or - for stdin", fix);
  if (event === "-" && ctx === "-") throw new UsageError("stdin can be the event or the context, not both", fix);
  const input = {
    hook: hook.name,
    event: await readJson("event", event),
    ctx: ctx === undefined ? undefined : await readJson("ctx", ctx),
  };
  try {
    // As the host will: before anything is started for it.
    if (ctx === undefined) return { ...input, ctx: contextFor(hook, input.event) };
    prepare(hook, input.event, input.ctx);
  } catch (error) {
    if (error instanceof CreelError) throw new UsageError(error.message, fix);
    throw error;
  }
  return input;
}

async function readJson(option: string, given: string): Promise<Record<string, unknown>> {
  const source = given === "-" ? "stdin" : given.startsWith("@") ? given.slice(1) : `--${option}`;
  const fix = `give it as JSON in quotes (--${option} '{…}'), as a file (--${option} @file.json), or on stdin (--${option} -)`;
  let value: unknown;
  try {
    value = JSON.parse(await readText(given));
  } catch (error) {
    throw new UsageError(`the ${option} cannot be read from ${source}: ${(error as Error).message}`, fix);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`the ${option} in ${source} is not an object`, fix);
  return value as Record<string, unknown>;
}

function readText(given: string): Promise<string> {
  if (given === "-") return text(process.stdin);
  return given.startsWith("@") ? readFile(given.slice(1), "utf8") : Promise.resolve(given);
}

/** `creel init`: chooses the id of the plugin, writes its files, and proposes the next commands. */
import { basename, join, resolve } from "node:path";
import { checkedId } from "../../discovery/manifest.ts";
import { CreelError } from "../../protocol/errors.ts";
import { findHook } from "../call/input.ts";
import { UsageError } from "../options.ts";
import { alias, command, dependency, isCheckout, quoted, version } from "../self.ts";
import { HOOK_OF, hookMdFiles, toolFiles } from "./kinds.ts";
import type { Kind } from "./kinds.ts";
import { DEFAULT_HOOK, eventText, scaffold } from "./scaffold.ts";
import { writeNew } from "./write.ts";

export interface Begun {
  readonly id: string;
  readonly hook: string;
  readonly folder: string;
  /** As they were given: below the folder. */
  readonly files: readonly string[];
  readonly next: readonly Step[];
}

/** A command to continue with, and its purpose. */
export interface Step {
  readonly command: string;
  readonly what: string;
}

export async function begin(folder: string, name: string | undefined, hookName: string = DEFAULT_HOOK, kind?: Kind): Promise<Begun> {
  if (kind === "tool" || kind === "hook-md") return beginKind(folder, name, kind);
  const hook = findHook(hookName, undefined);
  const id = idOf(name ?? basename(resolve(folder)));
  const creel = { dependency: dependency(resolve(folder), version()), isCheckout: isCheckout() };
  const files = scaffold({ id, hook, creel });
  const written = await writeNew(folder, files);
  return {
    id,
    hook: hook.name,
    folder,
    files: written.map((file) => join(folder, file)),
    next: stepsOf(folder, hookSteps(hook.name, eventText(hook))),
  };
}

/** Kinds that are more than a handler of a hook. */
async function beginKind(folder: string, name: string | undefined, kind: "tool" | "hook-md"): Promise<Begun> {
  const id = idOf(name ?? basename(resolve(folder)));
  const creel = { dependency: dependency(resolve(folder), version()), isCheckout: isCheckout() };
  const hook = HOOK_OF[kind];
  const event = kind === "tool" ? "" : eventText(findHook(hook, undefined));
  const files = kind === "tool" ? toolFiles(id, creel) : hookMdFiles(id, event, creel);
  const written = await writeNew(folder, files);
  return {
    id,
    hook: kind === "tool" ? "no hook; it adds the tool count_words" : hook,
    folder,
    files: written.map((file) => join(folder, file)),
    next: stepsOf(folder, kind === "tool" ? toolSteps() : { ...hookSteps(hook, event), isPacked: false }),
  };
}

/** What is typed to run it. */
interface Tried {
  readonly call: string;
  readonly dev: string;
  readonly inspect: string;
  /** A HOOK.md folder is published and installed as it is. */
  readonly isPacked?: boolean;
}

function hookSteps(hook: string, event: string): Tried {
  const run = `--hook ${hook} --event '${event}'`;
  return { call: `call ${hook} --plugin . --event '${event}'`, dev: `dev . ${run}`, inspect: `dev . --inspect ${run}` };
}

/** `creel dev` runs hooks: a tool stops for a debugger when it is called. */
function toolSteps(): Tried {
  const call = `call tool:count_words --plugin . --argument '{"text":"one two"}'`;
  return { call, dev: "dev .", inspect: `${call} --inspect` };
}

/** In order, from the current folder. */
function stepsOf(folder: string, { call, dev, inspect, isPacked = true }: Tried): Step[] {
  const called = alias();
  const creel = command();
  return [
    ...(called === undefined ? [] : [{ command: called, what: "a name for this clone" }]),
    ...(resolve(folder) === process.cwd() ? [] : [{ command: `cd ${quoted(folder)}`, what: "" }]),
    { command: "npm install && npm test", what: "run its test in the real sandbox" },
    { command: `${creel} check .`, what: "check its types, and for what the sandbox lacks" },
    { command: `${creel} ${call}`, what: "run it once" },
    { command: `${creel} ${dev}`, what: `${dev === "dev ." ? "load" : "run"} it with every change; press ? for keys` },
    { command: `${creel} ${inspect}`, what: "stop at a line of its TypeScript: attach as it prints" },
    { command: "npm run coverage", what: "see which of its lines the test has run" },
    ...(isPacked ? [{ command: `${creel} pack .`, what: "make one file of it, to publish" }] : []),
    { command: `${creel} install .`, what: "install it: read what it requests, and accept" },
  ];
}

function idOf(text: string): string {
  try {
    return checkedId(text);
  } catch (error) {
    if (error instanceof CreelError) throw new UsageError(error.message, `name it with --name; ${error.fix}`);
    throw error;
  }
}

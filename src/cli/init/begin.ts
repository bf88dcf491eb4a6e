/** What `creel init` does: names the plugin, writes its files, says how to go on. */
import { basename, join, resolve } from "node:path";
import { checkedId } from "../../host/manifest.ts";
import { CreelError } from "../../protocol/errors.ts";
import { findHook } from "../call/input.ts";
import { UsageError } from "../options.ts";
import { alias, command, dependency, isCheckout, quoted } from "../self.ts";
import { version } from "../version.ts";
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

/** A command to go on with, and what it is for. */
export interface Step {
  readonly command: string;
  readonly what: string;
}

export async function begin(folder: string, name: string | undefined, hookName: string = DEFAULT_HOOK): Promise<Begun> {
  const hook = findHook(hookName, undefined);
  const id = idOf(name ?? basename(resolve(folder)));
  const creel = { dependency: dependency(resolve(folder), version()), isCheckout: isCheckout() };
  const files = scaffold({ id, hook, creel });
  await writeNew(folder, files);
  return {
    id,
    hook: hook.name,
    folder,
    files: Object.keys(files).map((file) => join(folder, file)),
    next: steps(folder, eventText(hook), hook.name),
  };
}

/** In this order, from where the person is now. */
function steps(folder: string, event: string, hook: string): Step[] {
  const called = alias();
  const creel = command();
  return [
    ...(called === undefined ? [] : [{ command: called, what: "this clone, by its name" }]),
    ...(resolve(folder) === process.cwd() ? [] : [{ command: `cd ${quoted(folder)}`, what: "" }]),
    { command: "npm install && npm test", what: "its own test, in the real sandbox" },
    { command: `${creel} check .`, what: "what the sandbox does not have, and types" },
    { command: `${creel} call ${hook} --plugin . --event '${event}'`, what: "the hook, once" },
    { command: `${creel} install .`, what: "as an operator would: read what it asks for, and accept" },
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

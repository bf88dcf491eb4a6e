/** What `creel init` does: names the plugin, writes its files, says how to go on. */
import { basename, join, resolve } from "node:path";
import { checkedId } from "../../host/manifest.ts";
import { CreelError } from "../../protocol/errors.ts";
import { findHook } from "../call/input.ts";
import { UsageError } from "../options.ts";
import { version } from "../version.ts";
import { DEFAULT_HOOK, sampleText, scaffold } from "./scaffold.ts";
import { writeNew } from "./write.ts";

export interface Begun {
  readonly id: string;
  readonly hook: string;
  readonly folder: string;
  /** As they were given: below the folder. */
  readonly files: readonly string[];
  readonly next: readonly string[];
}

export async function begin(folder: string, name: string | undefined, hookName: string = DEFAULT_HOOK): Promise<Begun> {
  const hook = findHook(hookName, undefined);
  const id = idOf(name ?? basename(resolve(folder)));
  const files = scaffold({ id, hook, version: version() });
  await writeNew(folder, files);
  const path = quoted(/^[./]/.test(folder) ? folder : `./${folder}`);
  return {
    id,
    hook: hook.name,
    folder,
    files: Object.keys(files).map((file) => join(folder, file)),
    next: [
      `cd ${path} && npm install && npm test`,
      `creel check ${path}`,
      `creel call ${hook.name} --plugin ${path} --event '${sampleText(hook)}'`,
      `creel install ${path}`,
    ],
  };
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

function idOf(text: string): string {
  try {
    return checkedId(text);
  } catch (error) {
    if (error instanceof CreelError) throw new UsageError(error.message, `name it with --name; ${error.fix}`);
    throw error;
  }
}

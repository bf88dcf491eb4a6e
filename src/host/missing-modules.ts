/** Trusted side: which of the modules that a bundle needs it cannot have. It is refused for them before anything of it runs. */
import { ABSENT_MODULES, absentSentence, isNative } from "../protocol/modules/absent.ts";
import { GUEST_MODULES } from "../protocol/surface.ts";
import type { Builtin } from "./bundler-message.ts";
import { oneLine } from "./guest-error.ts";

/** How many importers a sentence names. */
const NAMED = 2;

/** One sentence per module, what is hopeless first. Modules that may never be asked for are left to fail when they are. */
export function missingModules(builtins: readonly Builtin[]): string[] {
  return builtins
    .filter((builtin) => !Object.hasOwn(GUEST_MODULES, builtin.name) && isNeeded(builtin))
    .toSorted((a, b) => Number(isHopeless(b)) - Number(isHopeless(a)))
    .map(({ name, importers }) => oneLine(absentSentence(name, who(importers))));
}

function isNeeded(builtin: Builtin): boolean {
  return builtin.needed === "import" || (builtin.needed === "require" && isHopeless(builtin));
}

function isHopeless({ name }: Builtin): boolean {
  return isNative(name) || (Object.hasOwn(ABSENT_MODULES, name) && ABSENT_MODULES[name]!.isHopeless === true);
}

function who(importers: readonly string[]): string {
  const more = importers.length - NAMED;
  return [...importers.slice(0, NAMED), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

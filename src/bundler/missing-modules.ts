/**
 * Gateway, trusted: which of the modules that a bundle needs do not exist in a cell. Stubs that throw take their place.
 * With `strict` in the configuration, the host refuses such a bundle before any of it runs.
 */
import { ABSENT_MODULES, absentReason, absentSentence, isNative } from "../protocol/guest-surface/absent.ts";
import { GUEST_MODULES } from "../protocol/guest-surface/surface.ts";
import type { Builtin } from "./messages.ts";
import { oneLine } from "../text/one-line.ts";

/** How many importers a sentence names. */
const NAMED = 2;

/**
 * One sentence per module, hopeless ones first. Skips modules that may never be requested: those fail when they are.
 */
export function missingModules(builtins: readonly Builtin[]): string[] {
  return builtins
    .filter((builtin) => !Object.hasOwn(GUEST_MODULES, builtin.name) && isNeeded(builtin))
    .toSorted((a, b) => Number(isHopeless(b)) - Number(isHopeless(a)))
    .map(({ name, importers }) => oneLine(absentSentence(name, who(importers))));
}

/** For operators: what of the plugin will fail when it is used, and where. */
export function unavailable(builtins: readonly Builtin[]): string[] {
  return builtins
    .filter((builtin) => builtin.isStub)
    .map(({ name, importers, line }) => {
      const [first, ...more] = importers;
      const at = first === undefined ? "" : `, used at ${first}${line === undefined ? "" : `:${line}`}`;
      const others = more.length > 0 ? ` and in ${more.length} more file${more.length === 1 ? "" : "s"}` : "";
      return oneLine(`will not work here: ${name}${at}${others}: ${absentReason(name)}`);
    });
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

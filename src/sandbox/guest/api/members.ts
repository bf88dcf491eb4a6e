/**
 * Inside the isolate: members of `api` that a plugin looks for and that do not exist. A name that registers something
 * gives a function that does nothing. Any other name gives undefined, so that a plugin that tests for a member takes
 * its other branch. The guest reports each name to the host once.
 */
import { requestHost } from "../turn/requests.ts";
import { isRegistering } from "./declared.ts";
import { bare, call, charCodeAt, promiseThen, sliceText } from "../boot/primordials.ts";
import type { UnknownMember } from "../../../protocol/rules/registration.ts";
import { LIMITS } from "../../../protocol/limits.ts";

const NativeProxy = Proxy;
const { get: getMember, has: hasMember } = Reflect;

/** Those that the plugin looked for during registration. */
export const unknownMembers: UnknownMember[] = [];
const seen: Record<string, true> = bare({});
let count = 0;

/** Names that the language and tools look up on any object. */
const QUIET = bare<Record<string, boolean>>({});
for (const name of ["then", "toJSON", "inspect", "nodeType", "asymmetricMatch", "$$typeof", "default", "__esModule"]) QUIET[name] = true;

/**
 * Wraps an object so that the host learns of members that do not exist. `path` is how the plugin spells the object,
 * with a dot at the end.
 */
export function watched<T extends object>(target: T, path: string): T {
  const inert: Record<string, () => void> = bare({});
  return new NativeProxy(target, {
    get: (_, key, receiver) => {
      if (typeof key !== "string" || hasMember(target, key)) return getMember(target, key, receiver) as unknown;
      if (QUIET[key]) return undefined;
      const member = path + key;
      if (!registersSomething(key)) {
        note(member, "absent");
        return undefined;
      }
      inert[key] ??= () => note(member, "inert");
      return inert[key];
    },
  });
}

/** `registerX` or `onX`. */
function registersSomething(key: string): boolean {
  return isCapitalAt(key, sliceText(key, 0, 8) === "register" ? 8 : sliceText(key, 0, 2) === "on" ? 2 : key.length);
}

function isCapitalAt(text: string, at: number): boolean {
  const code = charCodeAt(text, at);
  return code >= 65 && code <= 90;
}

function note(member: string, as: UnknownMember["as"]): void {
  const name = sliceText(member, 0, LIMITS.call.nameChars);
  if (seen[name] || count >= LIMITS.plugin.unknownMembers) return;
  seen[name] = true;
  count += 1;
  const one = bare({ member: name, as });
  if (isRegistering()) unknownMembers[unknownMembers.length] = one;
  else void call(promiseThen, requestHost("api.unknownMember", one), [undefined, () => {}]);
}

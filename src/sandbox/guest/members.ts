/**
 * Inside the isolate: members of `api` that a plugin looks for and that are not there. A name that registers something gives a function that
 * does nothing; any other gives undefined, so that a plugin that asks before it uses goes its own way. Either is told to the host, once.
 */
import { ask } from "./asks.ts";
import { isRegistering } from "./declared.ts";
import { bare, call, charCodeAt, promiseThen, sliceText } from "./primordials.ts";
import type { Touched } from "../../protocol/registration.ts";
import { LIMITS } from "../../protocol/limits.ts";

const NativeProxy = Proxy;
const { get: getMember, has: hasMember } = Reflect;

/** What was touched while it registered. */
export const touched: Touched[] = [];
const seen: Record<string, true> = bare({});
let count = 0;

/** What language and tools ask any object for. */
const QUIET = bare<Record<string, boolean>>({});
for (const name of ["then", "toJSON", "inspect", "nodeType", "asymmetricMatch", "$$typeof", "default", "__esModule"]) QUIET[name] = true;

/** The object, with a word to the host when something is looked for in vain. `path` is what the plugin calls it, with a dot at the end. */
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

function note(member: string, as: Touched["as"]): void {
  const name = sliceText(member, 0, LIMITS.nameChars);
  if (seen[name] || count >= LIMITS.touchedMembers) return;
  seen[name] = true;
  count += 1;
  const one = bare({ member: name, as });
  if (isRegistering()) touched[touched.length] = one;
  else void call(promiseThen, ask("api.touched", one), [undefined, () => {}]);
}

/**
 * Inside the isolate: what a plugin gets for a module that the sandbox does not have: the sentence that says so, and a
 * stub for those that it imports when it loads. Loaded when that happens. Untrusted side: nothing leaves the cell here.
 */
import { absentSentence } from "../../../protocol/guest-surface/absent.ts";
import { bootstrapError } from "../boot/describe.ts";
import { bare } from "../boot/primordials.ts";
import { constants } from "./http/http2-constants.ts";

export { absentSentence };

type Stub = (...args: unknown[]) => never;

const stubs: Record<string, Stub> = bare({});

/** The stub of a module, by the name in the import. */
export function stub(name: string): Stub {
  const known = stubs[name];
  if (known !== undefined) return known;
  const one = made(name);
  // Plain values, which packages use as keys while they load.
  if (name === "http2" || name === "node:http2") Object.defineProperty(one, "constants", { value: constants, enumerable: true });
  return (stubs[name] = one);
}

/**
 * Any member of a stub is a stub, too: `const run = promisify(child_process.exec)` and `class A extends net.Socket` at
 * the top of a file do no harm. Calling one throws. Its members come from its prototype, because bundlers make a new
 * object for `import * as`, of which they keep the prototype.
 */
function made(module: string): Stub {
  const absent = function absent(): never {
    throw bootstrapError("ERR_PLUGIN_MODULE", absentSentence(module));
  };
  // A member of this name would be the function's own.
  Reflect.deleteProperty(absent, "name");
  Reflect.deleteProperty(absent, "length");
  const members: Record<string, Stub> = bare({});
  const get = (_: object, key: string | symbol): unknown =>
    typeof key !== "string" || isQuiet(key) ? undefined : (members[key] ??= made(module));
  return Object.setPrototypeOf(absent, new Proxy(Object.create(null) as object, { get })) as Stub;
}

/** What the language and bundlers look up on any object. */
function isQuiet(key: string): boolean {
  return key === "then" || key === "toJSON" || key === "__esModule";
}

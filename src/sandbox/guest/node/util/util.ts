/** Inside the isolate: `util`. */
import { postLog } from "../../turn/mailbox.ts";
import { timerGlobals } from "../../turn/timers.ts";
import { world } from "../../boot/world.ts";
import { isDeepEqual } from "../assert/deep-equal.ts";
import { checkFunction, checkString, invalidArgType, invalidArgValue, nodeError } from "../errors.ts";
import { inspecting } from "./inspecting.ts";
import { ERRNO } from "../os-constants.ts";
import { parseArgs } from "./parse-args.ts";
import { nextTick } from "../next-tick.ts";
import timers from "../timers-promises.ts";
import types from "./util-types.ts";

type Fn = (this: unknown, ...args: unknown[]) => unknown;

const CUSTOM = Symbol.for("nodejs.util.promisify.custom");

function promisify(original: unknown): Fn {
  checkFunction(original, "original");
  if (original === timerGlobals.setTimeout) return timers.setTimeout as Fn;
  if (original === timerGlobals.setImmediate) return timers.setImmediate as Fn;
  const own = (original as unknown as Record<symbol, unknown>)[CUSTOM];
  if (own) {
    checkFunction(own, "util.promisify.custom");
    return Object.defineProperty(own, CUSTOM, { value: own, configurable: true });
  }
  const promised: Fn = function (...args) {
    return new Promise((resolve, reject) => {
      Reflect.apply(original, this, [...args, (error: unknown, value: unknown) => (error ? reject(error as Error) : resolve(value))]);
    });
  };
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original) as object);
  Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
  return Object.defineProperty(promised, CUSTOM, { value: promised, configurable: true });
}

promisify.custom = CUSTOM;

function callbackify(original: unknown): Fn {
  checkFunction(original, "original");
  const called: Fn = function (...args) {
    const done = args.pop();
    checkFunction(done, "last argument");
    void Promise.resolve(Reflect.apply(original, this, args)).then(
      (value) => nextTick(done, null, value),
      (error: unknown) => {
        if (error) return nextTick(done, error);
        const falsy = nodeError(Error, "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value");
        return nextTick(done, Object.assign(falsy, { reason: error }));
      },
    );
  };
  Object.setPrototypeOf(called, Object.getPrototypeOf(original) as object);
  const { length, name, ...rest } = Object.getOwnPropertyDescriptors(original);
  return Object.defineProperties(called, {
    ...rest,
    length: { ...length, value: (length?.value as number) + 1 },
    name: { ...name, value: `${String(name?.value)}Callbackified` },
  });
}

function inherits(constructor: unknown, parent: unknown): void {
  if (constructor === undefined || constructor === null) throw invalidArgType("ctor", "of type function", constructor);
  if (parent === undefined || parent === null) throw invalidArgType("superCtor", "of type function", parent);
  const { prototype } = parent as { prototype?: object };
  if (prototype === undefined) throw invalidArgType("superCtor.prototype", "of type object", prototype);
  Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf((constructor as { prototype: object }).prototype, prototype);
}

const warned = new Set<string>();

function deprecate(fn: unknown, message: string, code?: string): Fn {
  checkFunction(fn, "fn");
  let hasSaid = false;
  const deprecated: Fn = function (...args) {
    if (!hasSaid && !(code !== undefined && warned.has(code)))
      postLog(2, `${code === undefined ? "" : `[${code}] `}DeprecationWarning: ${message}`);
    hasSaid = true;
    if (code !== undefined) warned.add(code);
    return new.target ? Reflect.construct(fn, args, new.target) : Reflect.apply(fn, this, args);
  };
  Object.setPrototypeOf(deprecated, fn);
  if (fn.prototype) deprecated.prototype = fn.prototype as object;
  return Object.defineProperty(deprecated, "length", Object.getOwnPropertyDescriptor(fn, "length")!);
}

/** Sections that NODE_DEBUG names write debug log lines. */
function debuglog(section: string): Fn & { enabled: boolean } {
  const wanted = (world.env["NODE_DEBUG"] ?? "").split(",").map((one) => one.trim().toLowerCase());
  const enabled = wanted.some(
    (one) =>
      one !== "" && new RegExp(`^${one.replaceAll(/[|\\{}()[\]^$+?.]/g, "\\$&").replaceAll("*", ".*")}$`).test(section.toLowerCase()),
  );
  return Object.assign((...args: unknown[]) => void (enabled && postLog(0, `${section.toUpperCase()}: ${inspecting().format(...args)}`)), {
    enabled,
  });
}

function styleText(styles: unknown, text: unknown): string {
  checkString(text, "text");
  const { colors } = inspecting().inspect as unknown as { colors: Record<string, [number, number]> };
  let result = text;
  for (const style of (Array.isArray(styles) ? styles : [styles]).toReversed() as unknown[]) {
    if (style === "none") continue;
    const codes = typeof style === "string" ? colors[style] : undefined;
    if (!codes)
      throw invalidArgValue(
        "format",
        style,
        `must be one of: ${Object.getOwnPropertyNames(colors)
          .map((name) => `'${name}'`)
          .join(", ")}`,
      );
    result = `\u001b[${codes[0]}m${result}\u001b[${codes[1]}m`;
  }
  return result;
}

const NAMES = new Map(Object.entries(ERRNO).map(([name, number]) => [-number, name]));

function getSystemErrorName(number: unknown): string | undefined {
  return NAMES.get(Number(number));
}

function aborted(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** Parses KEY=value lines, as in a .env file. */
function parseEnv(content: unknown): Record<string, string> {
  checkString(content, "content");
  const env: Record<string, string> = {};
  const line = /^[^\S\n]*(?:export\s+)?([\w.-]+)[^\S\n]*=[^\S\n]*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^#\n]*))?[^\n]*$/gm;
  for (const [, name, double, single, tick, bare] of content.replaceAll("\r\n", "\n").matchAll(line))
    env[name!] = double?.replaceAll("\\n", "\n") ?? single ?? tick ?? (bare ?? "").trim();
  return env;
}

const util = {
  promisify,
  callbackify,
  inherits,
  deprecate,
  debuglog,
  debug: debuglog,
  styleText,
  isDeepStrictEqual: (a: unknown, b: unknown): boolean => isDeepEqual(a, b, "strict"),
  isArray: (value: unknown): boolean => Array.isArray(value),
  types,
  toUSVString: (text: unknown): string => String(text).toWellFormed(),
  getSystemErrorName,
  aborted,
  parseArgs,
  parseEnv,
  _extend: (target: unknown, source: unknown): unknown =>
    typeof source === "object" && source !== null ? Object.assign(target as object, source) : target,
};

for (const name of ["format", "formatWithOptions", "inspect", "stripVTControlCharacters"] as const) {
  const set = (value: unknown): void =>
    void Object.defineProperty(util, name, { value, writable: true, configurable: true, enumerable: true });
  const get = (): unknown => {
    set(inspecting()[name]);
    return inspecting()[name];
  };
  Object.defineProperty(util, name, { get, set, configurable: true, enumerable: true });
}
for (const name of ["TextEncoder", "TextDecoder"])
  Object.defineProperty(util, name, { get: () => Reflect.get(globalThis, name) as unknown, enumerable: true, configurable: true });

export default util;

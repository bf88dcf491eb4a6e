/**
 * Inside the isolate: the part of the guest's world that is made when it is first touched. All of its text is in the cell from
 * the start, as functions that V8 has not compiled: the code cache makes that nearly free.
 */
import { GUEST_GLOBALS, GUEST_MODULES, GUEST_SDK, type GUEST_PARTS } from "../../protocol/surface.ts";
import { sliceText } from "./primordials.ts";

/** Gives the exports of one of our own files, by the name of its chunk. */
export type LoadChunk = (chunk: string) => Record<string, unknown>;

const { defineProperty, hasOwn, keys } = Object;
let load: LoadChunk;

export function openLibrary(loadChunk: LoadChunk): void {
  load = loadChunk;
  for (const name of keys(GUEST_GLOBALS) as (keyof typeof GUEST_GLOBALS)[]) {
    const set = (value: unknown): void =>
      void defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
    const get = (): unknown => {
      const value = load(GUEST_GLOBALS[name])[name];
      // Undefined: asked for by the very file that makes it, or by one that it needs.
      if (value !== undefined) set(value);
      return value;
    };
    defineProperty(globalThis, name, { get, set, configurable: true, enumerable: false });
  }
}

/** A file that another one of the library needs now and then. */
export function part(name: (typeof GUEST_PARTS)[number] | (typeof GUEST_GLOBALS)[keyof typeof GUEST_GLOBALS]): Record<string, unknown> {
  return load(name);
}

/** `openclaw/plugin-sdk`, or any path below it. */
function isSdk(name: string): boolean {
  return name === "openclaw/plugin-sdk" || sliceText(name, 0, 20) === "openclaw/plugin-sdk/";
}

/** One of Node's modules, or OpenClaw's SDK, by the name it was imported by. Undefined: the sandbox has none of that name. */
export function moduleNamed(name: string): { readonly exports: unknown } | undefined {
  const plain = sliceText(name, 0, 5) === "node:" ? sliceText(name, 5) : name;
  if (isSdk(plain)) return { exports: load(GUEST_SDK).default };
  if (!hasOwn(GUEST_MODULES, plain)) return undefined;
  return { exports: load(GUEST_MODULES[plain]!).default };
}

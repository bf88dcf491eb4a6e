/**
 * Inside the isolate: the part of the guest's world that is made when it is first touched. The cell has the text of it from the start, as a string
 * whose characters it shares with all other cells of its lane.
 */
import { GUEST_GLOBALS, GUEST_MODULES, GUEST_SDK, pairs, type GUEST_PARTS } from "../../protocol/surface.ts";
import { sliceText } from "./primordials.ts";

/** Gives the exports of one of our own files, by the name of its chunk. */
export type LoadChunk = (chunk: string) => Record<string, unknown>;

const { defineProperty } = Object;
let load: LoadChunk;

// Lists: the bundler writes them down (host/bundler-known.ts).
const GLOBALS = pairs(GUEST_GLOBALS);
const MODULES = pairs(GUEST_MODULES);

export function openLibrary(loadChunk: LoadChunk): void {
  load = loadChunk;
  for (let at = 0; at < GLOBALS.length; at += 2) offer(GLOBALS[at]!, GLOBALS[at + 1]!);
}

/** A global that is made when it is first touched. */
function offer(name: string, file: string): void {
  const set = (value: unknown): void =>
    void defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const get = (): unknown => {
    const value = load(file)[name];
    // Undefined: asked for by the very file that makes it, or by one that it needs.
    if (value !== undefined) set(value);
    return value;
  };
  defineProperty(globalThis, name, { get, set, configurable: true, enumerable: false });
}

/** A file that another one of the library needs now and then. */
export function part(name: (typeof GUEST_PARTS)[number] | (typeof GUEST_GLOBALS)[keyof typeof GUEST_GLOBALS]): Record<string, unknown> {
  return load(name);
}

/** `openclaw/plugin-sdk`, or any path below it. */
function isSdk(name: string): boolean {
  return name === "openclaw/plugin-sdk" || sliceText(name, 0, 20) === "openclaw/plugin-sdk/";
}

/** Of Node's modules: without `node:`. */
export function moduleNames(): string[] {
  const names: string[] = [];
  for (let at = 0; at < MODULES.length; at += 2) names[at / 2] = MODULES[at]!;
  return names;
}

function moduleFile(name: string): string | undefined {
  for (let at = 0; at < MODULES.length; at += 2) if (MODULES[at] === name) return MODULES[at + 1];
  return undefined;
}

/** One of Node's modules, or OpenClaw's SDK, by the name it was imported by. Undefined: the sandbox has none of that name. */
export function moduleNamed(name: string): { readonly exports: unknown } | undefined {
  const plain = sliceText(name, 0, 5) === "node:" ? sliceText(name, 5) : name;
  if (isSdk(plain)) return { exports: load(GUEST_SDK).default };
  const file = moduleFile(plain);
  return file === undefined ? undefined : { exports: load(file).default };
}

/**
 * Inside the isolate: the part of the guest's world that is made when a plugin first touches it. The cell has its text
 * from the start, as a string whose characters it shares with all other cells of its lane.
 */
import { GUEST_GLOBALS, GUEST_MODULES, GUEST_SDK, GUEST_UNDICI, pairs, type GUEST_PARTS } from "../../../protocol/guest-surface/surface.ts";
import { STUB } from "../../../protocol/guest-surface/stub.ts";
import { sliceText } from "./primordials.ts";

/** Gives the exports of one of our own files, by the name of its chunk. */
export type LoadChunk = (chunk: string) => Record<string, unknown>;

const { defineProperty } = Object;
let load: LoadChunk;
/** Hands over the text of the library. Nothing of it can be loaded before. */
export let setLibraryText: (text: string) => void;

// The build replaces these calls by literal lists (scripts/guest-build/known.ts).
const GLOBALS = pairs(GUEST_GLOBALS);
const MODULES = pairs(GUEST_MODULES);

export function openLibrary(loadChunk: LoadChunk, setText: (text: string) => void): void {
  load = loadChunk;
  setLibraryText = setText;
  for (let at = 0; at < GLOBALS.length; at += 2) offer(GLOBALS[at]!, GLOBALS[at + 1]!);
}

/** Defines a global that is made when it is first touched. */
function offer(name: string, file: string): void {
  const set = (value: unknown): void =>
    void defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const get = (): unknown => {
    const value = load(file)[name];
    // Undefined: the file that makes it, or one that it needs, is still being evaluated.
    if (value !== undefined) set(value);
    return value;
  };
  defineProperty(globalThis, name, { get, set, configurable: true, enumerable: false });
}

/** Loads a file that the library needs only sometimes. */
export function part(name: (typeof GUEST_PARTS)[number] | (typeof GUEST_GLOBALS)[keyof typeof GUEST_GLOBALS]): Record<string, unknown> {
  return load(name);
}

/** `openclaw/plugin-sdk`, or any path below it. */
export function isSdk(name: string): boolean {
  return name === "openclaw/plugin-sdk" || sliceText(name, 0, 20) === "openclaw/plugin-sdk/";
}

/** Names of Node's modules, without `node:`. */
export function moduleNames(): string[] {
  const names: string[] = [];
  for (let at = 0; at < MODULES.length; at += 2) names[at / 2] = MODULES[at]!;
  return names;
}

function moduleFile(name: string): string | undefined {
  for (let at = 0; at < MODULES.length; at += 2) if (MODULES[at] === name) return MODULES[at + 1];
  return name === "undici" ? GUEST_UNDICI : undefined;
}

/** One of Node's modules, `undici` or OpenClaw's SDK, by the name in the import. Undefined: the sandbox has no such module. */
export function moduleNamed(name: string): { readonly exports: unknown } | undefined {
  const plain = sliceText(name, 0, 5) === "node:" ? sliceText(name, 5) : name;
  if (isSdk(plain)) return { exports: load(GUEST_SDK).default };
  if (sliceText(plain, 0, STUB.length) === STUB)
    return { exports: (part("node/absent") as { stub(name: string): unknown }).stub(sliceText(plain, STUB.length)) };
  const file = moduleFile(plain);
  return file === undefined ? undefined : { exports: load(file).default };
}

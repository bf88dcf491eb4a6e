/**
 * Inside the isolate: `module`. A plugin is one script. At run time it can require its own JSON files and Node's
 * modules.
 */
import { PACKAGE_ROOT } from "../../../protocol/messages/files.ts";
import { STUB } from "../../../protocol/guest-surface/stub.ts";
import { isSdk, moduleNamed, moduleNames } from "../boot/library.ts";
import { ABSENT_MODULES, absentSentence } from "../../../protocol/guest-surface/absent.ts";
import { checkString, invalidArgValue, nodeError } from "./errors.ts";
import { pathOfArgument } from "./fs/fs-arguments.ts";
import { sync } from "./fs/fs-sync.ts";
import path from "./path.ts";

const { posix } = path as unknown as { posix: { dirname(path: string): string; resolve(...paths: string[]): string } };

export const builtinModules: readonly string[] = Object.freeze(moduleNames().toSorted());

function isBuiltin(name: unknown): boolean {
  return typeof name === "string" && moduleExists(name);
}

function moduleExists(name: string): boolean {
  return builtinModules.includes(name.replace(/^node:/, ""));
}

/** OpenClaw's SDK, and stubs that the bundler put in place of what is absent. */
function isGiven(name: string): boolean {
  return isSdk(name) || name.startsWith(STUB);
}

type Require = ((name: unknown) => unknown) & { resolve: (name: unknown) => string; cache: object; main: undefined };

function createRequire(from: unknown): Require {
  const file = pathOfFrom(from);
  const folder = file.endsWith("/") ? file : posix.dirname(file);
  const resolve = (name: unknown): string => {
    checkString(name, "id");
    return resolved(name, folder);
  };
  const cache: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const require = (name: unknown): unknown => {
    const found = resolve(name);
    if (moduleExists(found) || isGiven(found)) return moduleNamed(found)!.exports;
    if (!(found in cache)) cache[found] = load(found);
    return cache[found];
  };
  return Object.assign(require, { resolve, cache, main: undefined });
}

function pathOfFrom(from: unknown): string {
  const file =
    typeof from === "string" && from.startsWith("file:") ? pathOfArgument(new (globalUrl())(from)) : pathOfArgument(from, "filename");
  if (!file.startsWith("/")) throw invalidArgValue("filename", from, "must be a file URL object, file URL string, or absolute path string");
  return file;
}

/** Taken from the guest's library on first use. */
function globalUrl(): new (url: string) => { href: string } {
  return (globalThis as unknown as { URL: new (url: string) => { href: string } }).URL;
}

function resolved(name: string, folder: string): string {
  if (moduleExists(name) || isGiven(name)) return name;
  if (Object.hasOwn(ABSENT_MODULES, name.replace(/^node:/, ""))) throw nodeError(Error, "MODULE_NOT_FOUND", absentSentence(name));
  if (/^\.{0,2}\//.test(name) || name === "." || name === "..") {
    const file = posix.resolve(folder, name);
    for (const candidate of [file, `${file}.json`]) if (isFile(candidate)) return candidate;
    throw notFound(name);
  }
  throw notFound(name, "packages are bundled, so that only what is imported or required by a fixed name is there");
}

function isFile(file: string): boolean {
  return (sync.stat(file, { throwIfNoEntry: false }) as { isFile(): boolean } | undefined)?.isFile() === true;
}

function notFound(name: string, why = `it is no JSON file below ${PACKAGE_ROOT}`): Error {
  return nodeError(Error, "MODULE_NOT_FOUND", `Cannot find module '${name}' inside the sandbox: ${why}`);
}

function load(file: string): unknown {
  if (!file.endsWith(".json"))
    throw nodeError(
      Error,
      "ERR_UNSUPPORTED_OPERATION",
      `${file} cannot be required inside the sandbox: code must be imported or required by a fixed name, which bundles it; at run time only JSON can be`,
    );
  try {
    return JSON.parse((sync.readFile(file, "utf8") as string).replace(/^\uFEFF/, ""));
  } catch (error) {
    if (error instanceof SyntaxError) error.message = `${file}: ${error.message}`;
    throw error;
  }
}

const functions = { createRequire, builtinModules, isBuiltin };

export default Object.assign(functions, { Module: functions });

/** This installation of Creel: its path, its version, and how to call it. */
import { readFileSync } from "node:fs";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Terminal } from "./ui/terminal.ts";

/** The package: two folders up, in `src/` as in `dist/`. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/[/\\]$/, "");

/** Cloned, not installed: its sources are there, and perhaps nothing else. */
export const isCheckout = (root = ROOT): boolean => !root.split(sep).includes("node_modules");

const isNpx = (): boolean => process.env.npm_command === "exec";

/**
 * The command to type. `npx` finds Creel only in a folder that has it as a package; elsewhere it would download one.
 */
export const command = (): string => (isNpx() && !isCheckout() ? "npx creel" : "creel");

/** An alias for a clone that has no `creel` command. Undefined: none is needed. */
export const alias = (): string | undefined =>
  isNpx() && isCheckout() ? `alias creel=${quoted(`${ROOT}/node_modules/.bin/creel`)}` : undefined;

/**
 * How a package in `folder` depends on this Creel: by path, so that it is the same version and not another package of
 * that name. A copy that npx fetched is temporary, so it is referenced by version.
 */
export function dependency(folder: string, release: string, root = ROOT): string {
  return root.split(sep).includes("_npx") ? `^${release}` : `file:${relative(folder, root).split(sep).join("/")}`;
}

/** The pages that `creel help` prints. */
export const DOCS = `${ROOT}/docs`;

/** For a shell. */
export function quoted(text: string): string {
  return /^[\w./~@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Of the package. */
export function version(): string {
  return (JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")) as { version: string }).version;
}

/** A command of Creel to type, with the options that have a value. */
export function commandLine(words: readonly string[], options: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, quoted(value)]));
  return [command(), ...words.map(quoted), ...given].join(" ");
}

/** Proposes the next command. */
export function next({ line, paint }: Terminal, text: string): void {
  line(`${paint("gray", "next:")} ${paint("cyan", text)}`);
}

/** This Creel itself: where it lies, and how the person at the keyboard calls it. */
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The package: two folders up, in `src/` as in `dist/`. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/[/\\]$/, "");

/** Cloned, not installed: its sources are there, and perhaps nothing else. */
export const isCheckout = (root = ROOT): boolean => !root.split(sep).includes("node_modules");

const isNpx = (): boolean => process.env.npm_command === "exec";

/** What to type. In a folder that has Creel as a package, `npx` finds it; elsewhere it would look for one on the internet. */
export const command = (): string => (isNpx() && !isCheckout() ? "npx creel" : "creel");

/** Whoever has a clone, and no `creel` of their own, needs a name for it. Undefined: they have one. */
export const alias = (): string | undefined =>
  isNpx() && isCheckout() ? `alias creel=${quoted(`${ROOT}/node_modules/.bin/creel`)}` : undefined;

/**
 * How a package in `folder` depends on this Creel. By its place: the same version, without a registry, and nobody else's package of that name. What npx
 * has fetched for one command came from a registry, and its place does not last.
 */
export function dependency(folder: string, version: string, root = ROOT): string {
  return root.split(sep).includes("_npx") ? `^${version}` : `file:${relative(folder, root).split(sep).join("/")}`;
}

/** For a shell. */
export function quoted(text: string): string {
  return /^[\w./~@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

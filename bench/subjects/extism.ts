/** Extism runs plugins that were compiled with its own kits, and the kit for JavaScript is not to be had from a registry. */
import { NotHere } from "./absent.ts";

export function extism(): never {
  throw new NotHere(
    "its compiler for JavaScript, extism-js, is a binary that is published outside of npm (@extism/js-pdk holds only types); nothing here can make its plugin",
  );
}

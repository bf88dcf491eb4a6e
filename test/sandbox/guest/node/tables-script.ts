/** A table of expressions as a script of the oracle. */
import type { Script } from "./oracle.ts";

export function script(setup: string, expressions: string): Script {
  return {
    setup,
    expressions: expressions
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  };
}

/** An older Node of this machine, if it has one: for what people with it see. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** The first that is found, with an npm beside it. */
export function oldNode(): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/usr/local/bin"];
  return folders
    .map((place) => join(place, "node"))
    .find((path) => {
      if (!existsSync(path)) return false;
      const major = Number(execFileSync(path, ["-p", "parseInt(process.versions.node, 10)"], { encoding: "utf8" }));
      // Below 18 npm itself is another one.
      return major >= 18 && major < 24;
    });
}

export const hasNpm = (node: string | undefined): node is string => node !== undefined && existsSync(join(dirname(node), "npm"));

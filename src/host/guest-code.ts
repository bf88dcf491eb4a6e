/** Trusted side: the text of the bootstrap that runs inside every isolate. Built ahead in `dist`, on first use from sources. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

let built: Promise<string> | undefined;

export function guestCode(): Promise<string> {
  built ??= import.meta.url.endsWith(".ts") ? bundleGuest() : readFile(new URL("../sandbox/guest.bundle.js", import.meta.url), "utf8");
  return built;
}

/** A script whose value is the table of entry points. */
export async function bundleGuest(): Promise<string> {
  const { rolldown } = await import("rolldown");
  await using build = await rolldown({
    input: fileURLToPath(new URL("../sandbox/guest/main.ts", import.meta.url)),
    platform: "neutral",
    logLevel: "silent",
    treeshake: true,
  });
  const { output } = await build.generate({
    format: "iife",
    name: "creel",
    exports: "default",
    minify: { compress: true, mangle: false, codegen: true },
  });
  return output[0].code.replace(/^var creel\s*=\s*/, "").replace(/;\s*$/, "");
}

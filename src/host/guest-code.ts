/** Trusted side: the text of the bootstrap that runs inside every isolate. Built ahead in `dist`, on first use from sources. */
import { readFile } from "node:fs/promises";
import { bundler } from "./bundler.ts";

let built: Promise<string> | undefined;

export function guestCode(): Promise<string> {
  if (!built) {
    built = import.meta.url.endsWith(".ts") ? bundleGuest() : readFile(new URL("../sandbox/guest.bundle.js", import.meta.url), "utf8");
    // Once it could not be had: the next host tries again.
    built.catch(() => (built = undefined));
  }
  return built;
}

/** A script whose value is the table of entry points. */
export async function bundleGuest(): Promise<string> {
  return (await bundler.bundle({ kind: "guest" })).code;
}

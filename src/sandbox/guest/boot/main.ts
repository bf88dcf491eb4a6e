/**
 * Inside the isolate: the bootstrap. Untrusted side, on the plugin's own heap. It keeps the plugin's handlers, turns
 * values into text and back, and leaves mail. It protects a plugin from surprises, not the host from the plugin: lane
 * and host check everything that comes out of here.
 */
import { dispatch, enter, mail, observe } from "./entries.ts";
import { installGlobals } from "./globals.ts";
import { openLibrary } from "./library.ts";
import type { LoadChunk } from "./library.ts";
import { bare } from "./primordials.ts";

/** The script around this one gives the loader of chunks and the setter of their text (scripts/guest-build/join.ts). */
export default function start(loadChunk: LoadChunk, setText: (text: string) => void): object {
  installGlobals();
  openLibrary(loadChunk, setText);
  // The lane takes these four by reference. No plugin code can reach them.
  return bare({ dispatch, observe, mail, enter });
}

/** Inside the isolate: files that came with the load, as JSON texts (protocol/volume.ts). Nobody looks into them before `fs` does. */
import { bare } from "./primordials.ts";

/** Undefined: the plugin cannot read its own files; it has no volume. */
export const given: { files: string | undefined; volume: string | undefined } = bare({ files: undefined, volume: undefined });

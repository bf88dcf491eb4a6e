/** Inside the isolate: functions of Node's `fs` that a cell does not have, and why. */
import { nodeError } from "../errors.ts";

const WHY = {
  watch: "nothing but the plugin itself changes its files",
  watchFile: "nothing but the plugin itself changes its files",
} as const;

export function missing(name: keyof typeof WHY): () => never {
  return () => {
    throw nodeError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `fs.${name} is not available inside the sandbox: ${WHY[name]}`);
  };
}

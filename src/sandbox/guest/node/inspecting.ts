/** Inside the isolate: `inspect` and `format`, loaded when something is shown: it takes longer than all the rest of `util`. */
import type * as Inspecting from "./inspect.ts";
import { part } from "../library.ts";

export function inspecting(): typeof Inspecting {
  return part("node/inspect") as unknown as typeof Inspecting;
}

export function inspect(value: unknown, options?: object): string {
  return inspecting().inspect(value, options);
}

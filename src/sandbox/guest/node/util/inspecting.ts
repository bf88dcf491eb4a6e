/**
 * Inside the isolate: `inspect` and `format`, loaded on first use: they take longer to load than the rest of `util`.
 */
import type * as Inspecting from "./inspect.ts";
import { part } from "../../boot/library.ts";

export function inspecting(): typeof Inspecting {
  return part("node/util/inspect") as unknown as typeof Inspecting;
}

export function inspect(value: unknown, options?: object): string {
  return inspecting().inspect(value, options);
}

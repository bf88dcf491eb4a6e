/** Inside the isolate: what the host says about the world around the plugin. Told with the load; nothing runs before. */
import type { GuestWorld } from "../../protocol/guest-world.ts";
import { bare } from "./primordials.ts";

interface World extends GuestWorld {
  /** 32 random bytes in hexadecimal, new for every cell. */
  seed: string;
  /** Milliseconds since some point, exactly; only where it was granted. */
  now: (() => number) | undefined;
}

export const world: World = bare({ env: {}, platform: "linux", arch: "x64", wasm: false, clock: "coarse", seed: "", now: undefined });

export function setWorld(told: GuestWorld, seed: string, now: (() => number) | undefined): void {
  Object.assign(world, told, { seed, now });
}

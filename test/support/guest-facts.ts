/** What a cell is told about a plugin and its world when a test opens one without a host. */
import type { GuestFacts } from "../../src/protocol/guest-surface/world.ts";

export const FACTS = JSON.stringify({
  api: { id: "test", name: "test", pluginConfig: {} },
  world: { env: {}, platform: "linux", arch: "x64", clock: "coarse", wasm: false },
} satisfies GuestFacts);

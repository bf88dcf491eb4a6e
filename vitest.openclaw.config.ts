/** `npm run test:openclaw`: installs OpenClaw (650 MB) and runs its gateway. Not part of `npm test`, whose time in CI is used up. */
import { defineConfig } from "vitest/config";
import LiveTable from "./scripts/live-table.ts";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["test/openclaw/*.test.ts"],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 240_000,
    reporters: ["verbose", new LiveTable()],
  },
});

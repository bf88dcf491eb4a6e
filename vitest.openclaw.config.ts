/** `npm run test:openclaw`: installs OpenClaw (650 MB, once), runs its gateway, and writes docs/reference/openclaw-live.md. */
import { defineConfig } from "vitest/config";
import LiveTable from "./scripts/live-table.ts";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["test/openclaw/{live,surface}.test.ts"],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 300_000,
    reporters: ["verbose", new LiveTable()],
  },
});

/** `npm run test:openclaw`: installs OpenClaw (650 MB, once) and runs its gateway. `test:openclaw:smoke` is the short part. */
import { defineConfig } from "vitest/config";
import LiveTable from "./scripts/live-table.ts";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["test/openclaw/{smoke,live,surface}.test.ts"],
    globalSetup: ["test/openclaw/support/openclaw-package.ts"],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 300_000,
    reporters: ["verbose", new LiveTable()],
  },
});

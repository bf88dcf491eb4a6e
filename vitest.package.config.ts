/** `npm run test:package`: the packed tarball with npm, pnpm and Yarn, and the example gateway in a real browser. Needs a registry. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["test/{package,example}/**/*.test.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});

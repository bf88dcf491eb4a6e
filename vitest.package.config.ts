/** `npm run test:package`: the packed tarball with npm, pnpm and Yarn, the example gateway in a real browser, and `npm run compat`. Needs a registry. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["test/{package,example}/**/*.test.ts", "test/compat/registry.test.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});

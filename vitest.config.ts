import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["test/**/*.test.ts", "plugins-examples/**/*.test.ts"],
    // They install packages from a registry: vitest.registry.config.ts.
    exclude: ["test/openclaw/{live,surface}.test.ts", "test/{package,example}/**", "test/compat/registry.test.ts", "**/node_modules/**"],
    // The tests start real threads and processes, and a third of the time they wait for clocks that are the subject. So one file more than
    // CI's two cores uses what would be idle.
    maxWorkers: 3,
    globalSetup: ["test/support/warm.ts", "test/support/browser-check.ts"],
    // Their threads inherit it; see there.
    execArgv: ["--import", new URL("src/sandbox/process/compile-cache.ts", import.meta.url).href],
    // A test sees the same whether `npm test` or `npx vitest` started it; see src/cli/self.ts.
    env: { npm_command: "test" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
  },
});

import { globSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { LongFirst } from "./test/support/long-first.ts";
import unit from "./vitest.unit.config.ts";

const ROOT = import.meta.dirname;
/** The files of `npm run test:unit`, which share a process: most of the time of such a file is its process and its imports. */
const UNIT = globSync(unit.test!.include!, { cwd: ROOT, exclude: unit.test!.exclude! });

/** They install packages from a registry: vitest.all.config.ts runs them, too. */
export const REGISTRY = ["test/openclaw/{live,surface}.test.ts", "test/{package,example}/**/*.test.ts", "test/compat/registry.test.ts"];

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    // The tests start real threads and processes, and a third of the time they wait for clocks that are the subject. So one file more than
    // CI's two cores uses what would be idle.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    // Their threads inherit it; see there.
    execArgv: ["--import", new URL("scripts/compile-cache.mjs", import.meta.url).href],
    // A test sees the same whether `npm test` or `npx vitest` started it; see src/cli/self.ts.
    env: { npm_command: "test" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: "host",
          include: ["test/**/*.test.ts", "plugins-examples/**/*.test.ts"],
          exclude: [...REGISTRY, "**/node_modules/**", ...UNIT],
          globalSetup: ["test/support/warm.ts", "test/support/browser-check.ts"],
        },
      },
      { extends: true, test: { name: "unit", include: UNIT, isolate: false } },
    ],
  },
});

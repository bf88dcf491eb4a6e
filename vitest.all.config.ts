/**
 * A step of `npm test`: all of vitest.config.ts, and what needs packages from a registry, which `npm run test:package` and
 * `npm run test:openclaw` run one by one. In one run, because tests compute while the package managers wait.
 */
import { defineConfig } from "vitest/config";
import base, { REGISTRY } from "./vitest.config.ts";
import openclaw from "./vitest.openclaw.config.ts";

const { maxWorkers, projects } = base.test!;
const { resolve, ssr } = openclaw;
const { testTimeout, hookTimeout } = openclaw.test!;

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: [...projects!, { resolve, ssr, test: { name: "registry", include: REGISTRY, maxWorkers, testTimeout, hookTimeout } }],
  },
});

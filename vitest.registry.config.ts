/**
 * A step of `npm test`: what needs packages from a registry, which `npm run test:package` and `npm run test:openclaw` run one by one. Side by
 * side, because the gateway of test/openclaw computes while the package managers wait.
 */
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import openclaw from "./vitest.openclaw.config.ts";
import packages from "./vitest.package.config.ts";

/** The live tests take longest by far. */
class LiveFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => isOther(a) - isOther(b));
  }
}

function isOther({ moduleId }: TestSpecification): number {
  return Number(!moduleId.endsWith("openclaw/live.test.ts"));
}

export default defineConfig({
  ...openclaw,
  test: {
    ...openclaw.test,
    include: [...openclaw.test!.include!, ...packages.test!.include!],
    maxWorkers: 2,
    reporters: ["default"],
    sequence: { sequencer: LiveFirst },
  },
});

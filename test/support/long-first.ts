/**
 * The order of test files. Vitest starts with the largest, but some small files wait for a minute: such a file would start last, and two of the
 * three workers would wait for it. The files that share a process come last: they are short, and fill what is left.
 */
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

/** Half a minute and more on CI's two cores, longest first. */
const LONG = [
  "openclaw/live",
  "fleet/failures",
  "compat/registry",
  "package/matrix",
  "example/gateway",
  "first-hour/gateway-developer",
  "robustness/evil-child",
  "fleet/duties/duties",
  "cli/consent-terminal",
  "install/random-kills",
  "contract/neighbours",
  "console/page/page",
  "contract/quarantine",
  "cli/verbs/openclaw/openclaw",
  "property/rules",
  "first-hour/operator",
  "contract/failures",
  "contract/budgets",
  "cli/verbs/author/init",
  "temporal-signal/kills",
  "contract/ladder",
  "compat/real-plugins",
  "robustness/leaks",
  "cli/verbs/plugins/update",
].map((name) => `/${name}.test.ts`);

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line no-array-sort -- a sequencer's own
    const largestFirst = await super.sort(files);
    return largestFirst.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  if (!project.config.isolate) return LONG.length + 1;
  const at = LONG.findIndex((end) => moduleId.endsWith(end));
  return at === -1 ? LONG.length : at;
}

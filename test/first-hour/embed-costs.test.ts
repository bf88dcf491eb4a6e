/** What Creel costs a gateway with the packed package (D3 of the report): its import. scripts/host-start.ts measures how long a host takes to open. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { measure, missedBy } from "../../scripts/embed.ts";
import { packedCreel } from "../support/packed.ts";

it(
  "D3 the import costs at most 150 modules, a third of the CPU time it once took, and 20 MB",
  { timeout: 120_000 },
  async ({ annotate }) => {
    const { root } = await packedCreel();
    const cost = measure(pathToFileURL(join(root, "dist/entry.js")).href);
    void annotate(`${cost.modules} modules, ${cost.cpuMs} ms, ${cost.rssMb} MB`);
    expect(cost.modules).toBeGreaterThan(0);
    expect([cost, missedBy(cost)]).toEqual([cost, []]);
  },
);

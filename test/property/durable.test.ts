/** A gateway that is killed at random while it emits durable events: none lost, none out of order, duplicates by the same id. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { folder } from "../support/files.ts";
import { killGateway, postingPlugin } from "../support/durable-kills.ts";
import type { Received } from "../support/durable-kills.ts";

// The version with 50 kills and 5,000 events: scripts/durable-kills.ts.
it("2 kills, 60 events, a tenth refused: 0 lost, 0 out of order, duplicates carry the same id", { timeout: 120_000 }, async () => {
  const figures = await killGateway({
    stateDir: join(folder({}), "state"),
    kills: 2,
    events: 60,
    sessions: 5,
    refuses: 0.1,
    lifeMs: 400,
    plugin: postingPlugin,
    read: (_, body) => body as Received,
  });
  expect(figures).toMatchObject({ kills: 2, lost: 0, waiting: 0, dead: 0, outOfOrder: 0, otherIds: 0 });
  // The first is aimed at an event; the second comes at any time.
  expect(figures.killsWhileEmitting).toBeGreaterThan(0);
});

/** A cluster that has no leader yet: nobody answers a request to make a store. */
import { expect, it } from "vitest";
import { connectNats } from "../../src/fleet/nats.ts";
import { BUCKETS, LOGS, SUBJECTS } from "../../src/fleet/subjects.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";

it.skipIf(noNats !== undefined)(
  "an operator's first change waits for servers that are still choosing a leader",
  { timeout: 60_000 },
  async () => {
    const boss = keysOf("boss", "operator");
    await using nats = await Nats.start({ acme: [boss] }, 3);
    await Promise.all([nats.kill(1), nats.kill(2)]);
    const bus = await connectNats(nats.accessOf(boss));
    try {
      const bucket = bus.makeBucket(BUCKETS.lock, 3);
      const log = bus.makeLog(LOGS.audit, [SUBJECTS.audit("*")], 3, 1);
      // One request lasts five seconds at most: what follows is tried again.
      const early = await Promise.race([bucket, log, new Promise((resolve) => setTimeout(resolve, 5_500, "waits"))]);
      expect(early).toBe("waits");
      await Promise.all([nats.restart(1), nats.restart(2)]);
      expect(await (await bucket).replicas()).toBe(3);
      await log;
    } finally {
      await bus.close();
    }
  },
);

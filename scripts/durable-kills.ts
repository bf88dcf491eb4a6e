/**
 * The large version of test/property/durable.test.ts: kills a gateway so often while so many events are emitted, prints what was lost, out of
 * order and delivered twice, and fails with 1 if something was. With 2: events are still kept, waiting or given up, so the run proves nothing;
 * `why` and `breaker` say more. It runs on a busy machine, too: it waits for as long as rows move. `node -C source scripts/durable-kills.ts 50 5000`
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { killGateway, postingPlugin } from "../test/support/durable-kills.ts";
import type { Received } from "../test/support/durable-kills.ts";

const [kills = 50, events = 5_000] = process.argv.slice(2).map(Number);
const stateDir = mkdtempSync(join(tmpdir(), "creel-durable-"));
const figures = await killGateway({
  stateDir,
  kills,
  events,
  sessions: 20,
  refuses: 0.1,
  lifeMs: 2_000,
  plugin: postingPlugin,
  read: (_, body) => body as Received,
});
rmSync(stateDir, { recursive: true });
console.log(JSON.stringify({ ...figures, load: loadavg()[0] }));
const isBroken = figures.lost + figures.outOfOrder + figures.otherIds > 0;
process.exit(isBroken ? 1 : figures.waiting + figures.dead > 0 ? 2 : 0);

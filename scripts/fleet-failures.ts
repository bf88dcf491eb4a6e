/**
 * The failure table of remote gates: three hosts in processes of their own on a real NATS server, and a gateway that goes on asking while one
 * of them, the server or the network fails. Prints a row per failure, and fails if a gate passed unjudged or rejected. The brief form is
 * test/fleet/remote.test.ts. `node -C source scripts/fleet-failures.ts`
 */
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Fleet } from "../test/support/fleet-failures.ts";
import type { Figures } from "../test/support/fleet-failures.ts";
import { noNats } from "../test/support/nats.ts";

if (noNats !== undefined) throw new Error(noNats);

type Failure = (fleet: Fleet) => Promise<Figures>;

const FAILURES: readonly Failure[] = [
  (fleet) => fleet.gates("nothing", 100, 10, 50, async () => {}),
  (fleet) =>
    fleet.gates("host stopped for 4 s", 200, 20, 50, async () => {
      await sleep(500);
      fleet.signal("one", "SIGSTOP");
      await sleep(4_000);
      fleet.signal("one", "SIGCONT");
    }),
  (fleet) =>
    fleet.gates("server killed, back after 0.3 s", 150, 20, 50, async () => {
      await sleep(500);
      await fleet.nats.kill();
      await sleep(300);
      await fleet.nats.restart();
    }),
  (fleet) =>
    fleet.gates("server away for 4 s", 300, 20, 50, async () => {
      await sleep(500);
      await fleet.nats.kill();
      await sleep(4_000);
      await fleet.nats.restart();
    }),
  (fleet) =>
    fleet.gates("gateway in a black hole for 3 s", 250, 20, 50, async () => {
      await sleep(500);
      fleet.proxy.hole(true);
      await sleep(3_000);
      fleet.proxy.hole(false);
    }),
  (fleet) =>
    fleet.gates("gateway cut off for 3 s", 250, 20, 50, async () => {
      await sleep(500);
      await fleet.proxy.cut(3_000);
    }),
  // Last: the host does not come back.
  (fleet) => fleet.gates("host killed, 60 gates of 1 s in flight", 60, 0, 1_000, async () => fleet.signal("one", "SIGKILL")),
];

const rows: Figures[] = [];
await using fleet = await Fleet.start(["one", "two", "three"]);
for (const failure of FAILURES) {
  const row = await failure(fleet);
  // Each begins with a whole fleet.
  await sleep(2_500);
  rows.push(row);
  console.log(JSON.stringify({ ...row, load: loadavg()[0] }));
}
console.table(rows);
process.exitCode = rows.some(({ wronglyAllowed, rejected }) => wronglyAllowed + rejected > 0) ? 1 : 0;

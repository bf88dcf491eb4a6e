/**
 * The failure table of a fleet: hosts in processes of their own on a real NATS server, and a gateway that goes on asking and emitting while
 * one of them, the server or the network fails. Prints a row per failure, and fails if a gate passed unjudged or rejected, or if an event that
 * was kept was lost. Then the same for the servers' logs. test/fleet/failures.test.ts judges the same rows. `node -C source scripts/fleet-failures.ts`
 */
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Fleet } from "../test/support/fleet-failures.ts";
import type { Figures } from "../test/support/fleet-failures.ts";
import { ROWS, SERVER_ROWS, SKEWED_ROWS } from "../test/support/fleet-rows.ts";
import type { Row } from "../test/support/fleet-rows.ts";
import { diskFull, leaderLost } from "../test/support/log-failures.ts";
import type { LogFigures } from "../test/support/log-failures.ts";
import { noNats } from "../test/support/nats.ts";
import { hasTmpfs } from "../test/support/tmpfs.ts";

if (noNats !== undefined) throw new Error(noNats);

const rows: Figures[] = [];
async function play(fleet: Fleet, failures: readonly Row[]): Promise<void> {
  for (const failure of failures) {
    const row = await failure(fleet);
    // Each begins with a whole fleet.
    await sleep(2_500);
    rows.push(row);
    console.log(JSON.stringify({ ...row, load: loadavg()[0] }));
  }
}
{
  await using fleet = await Fleet.start(["one", "two", "three"]);
  await play(fleet, ROWS);
}
{
  await using fleet = await Fleet.start(["one", "two", "three"], { through: "jetstream" });
  await play(fleet, SERVER_ROWS);
}
{
  await using fleet = await Fleet.start(["ahead", "behind"], { skewMs: { ahead: 3_600_000, behind: -3_600_000 } });
  await play(fleet, SKEWED_ROWS);
}
const logs: LogFigures[] = [await leaderLost(3)];
if (hasTmpfs) logs.push(await diskFull());
else console.log("skipped: the server's disk is full (needs root on Linux)");
console.table(rows);
console.table(logs);
const sum = (of: (row: Figures) => number): number => rows.reduce((all, row) => all + of(row), 0);
const bad = sum(({ wronglyAllowed, rejected, lost, otherIds }) => wronglyAllowed + rejected + lost + otherIds);
const lines = logs.reduce((all, { acknowledged }) => all + acknowledged, 0);
const badLines = logs.reduce((all, { lost, twice }) => all + lost + twice, 0);
console.log(
  `${sum(({ gates }) => gates)} gates, ${sum(({ events }) => events)} durable events: ${bad} wrong; ${lines} lines of logs: ${badLines} wrong`,
);
process.exitCode = bad + badLines > 0 ? 1 : 0;

/** The gateway process of the runner: forked, so that an attack that kills the gateway is a finding and not the end of the findings. */
import { setTimeout as sleep } from "node:timers/promises";
import { bundler } from "../../src/bundler/bundler.ts";
import { childrenOf } from "../support/process.ts";
import { readCorpus } from "./corpus.ts";
import { RESTING_SHARE } from "./order.ts";
import type { Order, Report } from "./order.ts";
import { cpuMs, ofFamily } from "./process-stats.ts";
import { merged } from "./load.ts";
import { Stage } from "./stage.ts";
import type { Slot } from "./stage.ts";
import { Quiet } from "./stay.ts";
import { summary, tryAttack } from "./trial.ts";
import type { Tried } from "./trial.ts";

const BEAT_MS = 1_000;
const RESIDUE_MS = 1_000;
const RESIDUE_LOOKS = 6;

process.once("message", (order: Order) => void perform(order));
process.once("disconnect", () => process.exit());

const tell = (report: Report): void => void process.send!(report);

async function perform({ isolation, slots, calls }: Order): Promise<void> {
  const beat = setInterval(() => tell({ kind: "beat" }), BEAT_MS);
  const corpus = new Map(readCorpus().map((attack) => [attack.name, attack]));
  const known: Slot[] = slots.map((slot) => ({ ...slot, attack: corpus.get(slot.attack)! }));
  const stage = await Stage.open({ isolation, slots: known });
  const rest = stage.load.tally;
  stage.load.start();
  await stage.load.probe();
  const quiet = new Quiet();
  const peace = slots.some(({ stayMs }) => stayMs > 0) ? await quiet.listen(stage, ["sync"], 0) : [];
  const tried: Tried[] = [];
  for (const slot of known) {
    tell({ kind: "begin", id: slot.id, pids: stage.host.pids() });
    const one = await tryAttack(stage, slot, quiet);
    tried.push(one);
    tell({ kind: "trial", trial: one.trial() });
  }
  stage.load.tally = rest;
  while (stage.load.sent < calls) await stage.load.probe();
  await stage.load.stop();
  const cpuShare = await restlessness();
  clearInterval(beat);
  await stage[Symbol.asyncDispose]();
  // It is kept for a while, for the next host: not a stray.
  await bundler.rest();
  const strays = childrenOf(process.pid).length;
  // It is long: who disconnects before it is written, loses it.
  const end: Report = {
    kind: "end",
    trials: tried.map((one) => one.trial()),
    rest: summary(merged([rest, ...peace])),
    residue: { cpuShare, strays },
  };
  process.send!(end, () => process.disconnect());
}

/**
 * The share of a core that the gateway and its children use while nobody asks anything of them. A spare may be starting: what
 * counts is whether they come to rest.
 */
async function restlessness(): Promise<number> {
  let share = 1;
  for (let look = 0; look < RESIDUE_LOOKS && share > RESTING_SHARE; look++) {
    const before = ofFamily(process.pid, cpuMs);
    await sleep(RESIDUE_MS);
    share = (ofFamily(process.pid, cpuMs) - before) / RESIDUE_MS;
  }
  return share;
}

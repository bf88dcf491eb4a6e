/**
 * The logs of a fleet (audit, quarantine) on servers that fail while a host appends: what the servers have acknowledged is there afterwards.
 * Used by test/fleet/failures.test.ts and scripts/fleet-failures.ts.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../../src/fleet/bus.ts";
import { connectNats } from "../../src/fleet/nats.ts";
import { LOGS, SUBJECTS } from "../../src/fleet/subjects.ts";
import { keysOf, Nats } from "./nats.ts";

export interface LogFigures {
  readonly failure: string;
  readonly acknowledged: number;
  /** Acknowledged, and not there. */
  readonly lost: number;
  /** The host was told. */
  readonly refused: number;
  /** There more often than once. */
  readonly twice: number;
  readonly longestGapMs: number;
}

const host = keysOf("one", "host");
const boss = keysOf("boss", "operator");

/** Appends one after the other, as a host ships its audit log, until it is stopped. */
class Appends {
  readonly acknowledged: number[] = [];
  #refused = 0;
  #longestGapMs = 0;
  #isOver = false;
  #doing: Promise<void> | undefined;
  readonly #bus: Bus;
  readonly #padding: string;

  constructor(bus: Bus, bytes: number) {
    this.#bus = bus;
    this.#padding = "x".repeat(bytes);
    this.#doing = this.#append();
  }

  get refused(): number {
    return this.#refused;
  }

  async #append(): Promise<void> {
    const log = this.#bus.log(LOGS.audit);
    for (let n = 0, lastMs = performance.now(); !this.#isOver; n++) {
      try {
        await log.append(SUBJECTS.audit("one"), JSON.stringify({ n, padding: this.#padding }), `n${n}`);
        this.acknowledged.push(n);
        this.#longestGapMs = Math.max(this.#longestGapMs, performance.now() - lastMs);
        lastMs = performance.now();
      } catch {
        this.#refused += 1;
        await sleep(50);
      }
      // As many as can be read again, one after the other.
      await sleep(2);
    }
  }

  async end(failure: string, reader: Bus): Promise<LogFigures> {
    this.#isOver = true;
    await this.#doing;
    const log = reader.log(LOGS.audit);
    const there: number[] = [];
    for (let after = 0; ;) {
      const found = await log.next(after);
      if (!found) break;
      after = found.number;
      there.push((JSON.parse(found.text) as { n: number }).n);
    }
    const all = new Set(there);
    return {
      failure,
      acknowledged: this.acknowledged.length,
      lost: this.acknowledged.filter((n) => !all.has(n)).length,
      refused: this.#refused,
      twice: there.length - all.size,
      longestGapMs: Math.round(this.#longestGapMs),
    };
  }
}

async function until(what: () => Promise<boolean>, withinMs: number): Promise<void> {
  for (const endMs = performance.now() + withinMs; !(await what().catch(() => false));) {
    if (performance.now() > endMs) throw new Error("it did not happen in time");
    await sleep(50);
  }
}

/** Three servers; the one that leads the log is killed, so many times. */
export async function leaderLost(times: number): Promise<LogFigures> {
  await using nats = await Nats.start({ acme: [host, boss] }, 3);
  const [bus, operator] = await Promise.all([host, boss].map((keys) => connectNats(nats.accessOf(keys))) as [Promise<Bus>, Promise<Bus>]);
  // A cluster that has just begun has no leader yet.
  await until(() => operator.makeLog(LOGS.audit, [SUBJECTS.audit("*")], 3, 1).then(() => true), 60_000);
  const appends = new Appends(bus, 100);
  for (let kills = 0; kills < times; kills++) {
    const before = appends.acknowledged.length;
    await until(async () => appends.acknowledged.length >= before + 50, 60_000);
    const leader = await nats.leaderOf(LOGS.audit);
    if (leader === undefined) throw new Error("no server leads the log");
    await nats.kill(leader);
    const killed = appends.acknowledged.length;
    await until(async () => appends.acknowledged.length >= killed + 50, 60_000);
    await nats.restart(leader);
  }
  await until(async () => operator.isConnected, 10_000);
  const figures = await appends.end(`the log's leader is killed ${times} times (3 servers)`, operator);
  await Promise.all([bus.close(), operator.close()]);
  return figures;
}

/** Needs root: the server's disk has 4 MB, then the server is killed, and then the disk has more. */
export async function diskFull(): Promise<LogFigures> {
  await using nats = await Nats.start({ acme: [host, boss] });
  await nats.kill();
  const disk = nats.storeOf();
  mkdirSync(disk, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
  try {
    await nats.restart();
    const [bus, operator] = await Promise.all([host, boss].map((keys) => connectNats(nats.accessOf(keys))) as [Promise<Bus>, Promise<Bus>]);
    await operator.makeLog(LOGS.audit, [SUBJECTS.audit("*")], 1, 1);
    const appends = new Appends(bus, 20_000);
    await until(async () => appends.refused > 0, 60_000);
    await nats.kill();
    execFileSync("mount", ["-o", "remount,size=32m", disk]);
    await nats.restart();
    const before = appends.acknowledged.length;
    await until(async () => appends.acknowledged.length >= before + 50, 30_000);
    await until(async () => operator.isConnected, 10_000);
    const figures = await appends.end("the server's disk is full, then it is killed, then the disk has room", operator);
    await Promise.all([bus.close(), operator.close()]);
    return figures;
  } finally {
    await nats.kill();
    execFileSync("umount", [disk]);
  }
}

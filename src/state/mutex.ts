/**
 * Trusted side: one process at a time changes the state folder. The lock is the kernel's, by way of SQLite: it ends with the process that
 * holds it, however that ends, and it holds between containers that share the folder, where the process numbers of one mean nothing to
 * the other. With a file that names its owner, somebody has to judge whether the owner still lives, and two who judge at once may both go in.
 *
 * The catch of such locks: they are gone when anything in the same process opens and closes `mutex.db`. Nothing else here does.
 */
import { hostname } from "node:os";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { isBusy } from "../host/store/database.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";

/** Who is at work, for the message of those who wait. Nothing depends on it. */
const owner = z.object({ pid: z.int(), host: z.string().max(256), what: z.string().max(256), since: z.string().max(64) });

export interface Waiting {
  /** What is being done, as those who wait are told: `creel install x`. */
  readonly what?: string;
  readonly waitMs?: number;
}

/** Does the work while no other process, and nobody else in this one, does any on the same folder. Work inside of work waits for itself: it fails when the time is up. */
export async function exclusively<T>(
  dir: string,
  { what = "creel", waitMs = LIMITS.stateBusyMs }: Waiting,
  work: () => Promise<T>,
): Promise<T> {
  using mutex = new Mutex(dir);
  const untilMs = performance.now() + waitMs;
  for (let napMs = 1; !mutex.tryToTake(); napMs = Math.min(2 * napMs, LIMITS.stateRetryMs)) {
    if (performance.now() > untilMs) throw new CreelError("ERR_STATE_BUSY", { dir, owner: ownerOf(dir), ms: waitMs });
    // Not all at the same time: whoever is woken together would only lock each other out again.
    await sleep(napMs * (0.5 + Math.random()));
  }
  try {
    sign(dir, what);
    return await work();
  } finally {
    rmSync(signature(dir), { force: true });
  }
}

/**
 * A database that is garbage is closed, and its lock is gone. Work that waits for something which nobody remembers is garbage, and
 * so is a workspace of which somebody has only kept the path: neither has ended. test/state/mutex.test.ts
 */
const held = new Set<DatabaseSync>();

/** The mutex of a folder, which is let go of when it is disposed of. The database is only ever locked: it stays empty. */
export class Mutex {
  readonly #database: DatabaseSync;

  constructor(dir: string) {
    this.#database = new DatabaseSync(join(dir, "mutex.db"), { timeout: 0 });
  }

  tryToTake(): boolean {
    try {
      this.#database.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    held.add(this.#database);
    return true;
  }

  [Symbol.dispose](): void {
    held.delete(this.#database);
    if (this.#database.isOpen) this.#database.close();
  }
}

function signature(dir: string): string {
  return join(dir, "mutex.json");
}

function sign(dir: string, what: string): void {
  const text = JSON.stringify({ pid: process.pid, host: hostname(), what: what.slice(0, 256), since: new Date().toISOString() });
  writeFileSync(signature(dir), `${text}\n`, { mode: 0o600 });
}

/** What is there may be left from a process that was killed. */
function ownerOf(dir: string): string {
  try {
    const { pid, host, what, since } = owner.parse(JSON.parse(readFileSync(signature(dir), "utf8")));
    if (host !== hostname()) return `process ${pid} on ${host} (${what}, since ${since})`;
    return isAlive(pid) ? `process ${pid} (${what}, since ${since})` : "another process";
  } catch {
    return "another process";
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Trusted side: one process at a time changes the state folder. The lock is the kernel's, by way of SQLite. It ends
 * with its process, however that ends, and it works between containers that share the folder, where process numbers of
 * one mean nothing in the other. A lock file that names its owner would leave others to judge whether the owner is
 * alive, and two judging at once might both enter.
 *
 * The catch of such locks: they vanish when anything in the same process opens and closes `mutex.db`. Nothing else here
 * does.
 */
import { hostname } from "node:os";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { isBusy } from "../host/storage/database.ts";
import { isAlive } from "../os/is-alive.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";

/** The owner, for the error message of those that wait. Nothing depends on it. Most commands never need the schema. */
const ownerSchema = () => z.object({ pid: z.int(), host: z.string().max(256), what: z.string().max(256), since: z.string().max(64) });

export interface Waiting {
  /** What the owner does, for that message: `creel install x`. */
  readonly what?: string;
  readonly waitMs?: number;
}

/**
 * Does the work while no other process, and no other caller in this one, changes the same folder. Nested work waits for
 * itself and fails when the time is up.
 */
export async function exclusively<T>(
  dir: string,
  { what = "creel", waitMs = LIMITS.state.busyMs }: Waiting,
  work: () => Promise<T>,
): Promise<T> {
  using mutex = new Mutex(dir);
  const untilMs = performance.now() + waitMs;
  for (let napMs = 1; !mutex.tryToTake(); napMs = Math.min(2 * napMs, LIMITS.state.retryMs)) {
    if (performance.now() > untilMs) throw new CreelError("ERR_STATE_BUSY", { dir, owner: ownerOf(dir), ms: waitMs });
    // Add jitter so that waiters do not collide again.
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
 * Keeps databases reachable: garbage collection would close one and drop its lock, although work that waits, or a
 * workspace of which only the path is kept, has not ended. test/state/mutex.test.ts
 */
const held = new Set<DatabaseSync>();

/** The mutex of a folder, released on disposal. The database is only locked and stays empty. */
export class Mutex {
  readonly #database: DatabaseSync;

  constructor(dir: string) {
    // Not imported above: commands that only read the lock would load it.
    const sqlite = process.getBuiltinModule("node:sqlite");
    this.#database = new sqlite.DatabaseSync(join(dir, "mutex.db"), { timeout: 0 });
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

/** The file may be left over from a process that was killed. */
function ownerOf(dir: string): string {
  try {
    const { pid, host, what, since } = ownerSchema().parse(JSON.parse(readFileSync(signature(dir), "utf8")));
    if (host !== hostname()) return `process ${pid} on ${host} (${what}, since ${since})`;
    return isAlive(pid) ? `process ${pid} (${what}, since ${since})` : "another process";
  } catch {
    return "another process";
  }
}

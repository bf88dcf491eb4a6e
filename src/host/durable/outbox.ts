/**
 * Trusted side: the file of events that must not get lost, `outbox.sqlite` in the state folder. A committed row survives the process
 * (`synchronous = NORMAL`, as every store here: not a power failure). Nothing blocks on another process: a locked file is tried again
 * without holding up the gateway's thread. The quota ends well before the disk does, because on a full disk SQLite cannot even delete.
 */
import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import type { OutboxStats } from "../../protocol/live-report.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { LazyDatabase } from "../storage/lazy-database.ts";
import type { LazyDatabaseSpec } from "../storage/lazy-database.ts";
import { isLeaseAlive, Lease } from "../storage/lease.ts";
import { OUTBOX_SCHEMA, OUTBOX_SCHEMA_VERSION, outboxStatements } from "./outbox-tables.ts";
import type { DeliveryRow, OutboxStatements } from "./outbox-tables.ts";

export interface NewEvent {
  readonly id: string;
  readonly hook: string;
  readonly session: string;
  readonly event: string;
  readonly context: string;
  readonly chain: string | undefined;
  readonly plugins: readonly string[];
}

/** What a host keeps in memory of a row that it delivers. */
export type Waiting = Pick<DeliveryRow, "seq" | "plugin" | "session" | "made">;

/** Why a row was given up. */
export interface LastFailure {
  readonly status: string;
  readonly why: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface OutboxOptions extends Pick<LazyDatabaseSpec<unknown>, "onSetAside" | "onFailure"> {
  readonly stateDir: string;
  readonly quotaBytes?: number;
  readonly now?: () => number;
}

export function outboxFile(stateDir: string): string {
  return join(stateDir, "outbox.sqlite");
}

export class Outbox {
  readonly #database: LazyDatabase<OutboxStatements>;
  readonly #lease = new Lease();
  readonly #now: () => number;
  readonly #dir: string;
  readonly #mostBytes: number;
  #quotaBytes: number;
  #bytes: number | undefined;
  #lastSeq = 0;
  /** Delivered, but the file could not be written: never delivered again by this host, and deleted when that works again. */
  readonly #undeleted = new Set<number>();

  constructor({ stateDir, quotaBytes = LIMITS.outbox.quotaBytes, now = Date.now, onSetAside, onFailure }: OutboxOptions) {
    this.#now = now;
    this.#dir = stateDir;
    this.#mostBytes = quotaBytes;
    this.#quotaBytes = quotaBytes;
    this.#database = new LazyDatabase({
      path: outboxFile(stateDir),
      version: OUTBOX_SCHEMA_VERSION,
      schema: OUTBOX_SCHEMA,
      prepare: outboxStatements,
      onSetAside,
      onFailure,
    });
  }

  /** Commits one row per plugin, all or none. `committed` is called at once when that is done. */
  add(event: NewEvent, committed: (rows: readonly Waiting[]) => void): Promise<unknown> {
    const { id, hook, session, event: text, context, chain, plugins } = event;
    const bytes = Buffer.byteLength(text) + Buffer.byteLength(context) + (chain?.length ?? 0) + 256;
    const made = this.#now();
    return this.#database.transact(
      (sql) => {
        this.#bytes ??= (sql.bytes.get() as { bytes: number }).bytes;
        const total = this.#bytes + bytes * plugins.length;
        if (total > this.#quotaBytes) throw new CreelError("ERR_OUTBOX_FULL", { hook, bytes: this.#bytes, limit: this.#quotaBytes });
        const rows: Waiting[] = [];
        for (const plugin of plugins) {
          const { changes, lastInsertRowid } = sql.add.run(
            id,
            plugin,
            hook,
            session,
            text,
            context,
            chain ?? null,
            made,
            bytes,
            this.#lease.name,
          );
          if (changes === 1) rows.push({ seq: Number(lastInsertRowid), plugin, session, made });
        }
        return rows;
      },
      (rows) => {
        this.#bytes! += bytes * rows.length;
        committed(rows);
      },
      bytes * plugins.length,
    );
  }

  /** Takes over what no living host delivers. Returns the rows that are new to this host, in order. */
  adopt(): Promise<Waiting[]> {
    return this.#database.transact((sql) => {
      const nowMs = this.#now();
      for (const seq of this.#undeleted) sql.delete.run(seq);
      this.#undeleted.clear();
      this.#bytes = (sql.bytes.get() as { bytes: number }).bytes;
      this.#measureDisk(this.#bytes);
      sql.seen.run(this.#lease.name, nowMs);
      for (const { holder, seen } of sql.holders.all(this.#lease.name) as unknown as { holder: string | null; seen: number | null }[]) {
        if (holder !== null && !isGone(holder, seen, nowMs)) continue;
        sql.adopt.run(this.#lease.name, holder);
        if (holder !== null) sql.left.run(holder);
        // What was adopted may be older than what this host has seen.
        this.#lastSeq = 0;
      }
      const rows = sql.mine.all(this.#lease.name, this.#lastSeq) as unknown as Waiting[];
      this.#lastSeq = rows.at(-1)?.seq ?? this.#lastSeq;
      return rows;
    });
  }

  /** Counts an attempt and returns the row; undefined: it is gone. */
  begin(seq: number): Promise<DeliveryRow | undefined> {
    return this.#database.do((sql) => {
      sql.begin.run(seq);
      return sql.get.get(seq) as unknown as DeliveryRow | undefined;
    });
  }

  async delivered({ seq, bytes }: Pick<DeliveryRow, "seq" | "bytes">): Promise<void> {
    try {
      await this.#database.do((sql) => sql.delete.run(seq));
      if (this.#bytes !== undefined) this.#bytes -= bytes;
    } catch {
      this.#undeleted.add(seq);
    }
  }

  /** It stays. `isUncounted`: the handler was not called. `isFatal`: it took the sandbox or a budget with it. */
  failed(seq: number, isUncounted: boolean, isFatal: boolean): Promise<unknown> {
    if (!isUncounted && !isFatal) return Promise.resolve();
    return this.#database.do((sql) => sql.settle.run(isUncounted ? 1 : 0, isFatal ? 1 : 0, seq));
  }

  giveUp(seq: number, why: LastFailure): Promise<unknown> {
    return this.#database.do((sql) => sql.die.run(JSON.stringify(why), seq));
  }

  dead(): Promise<DeliveryRow[]> {
    return this.#database.do((sql) => sql.dead.all() as unknown as DeliveryRow[]);
  }

  /** Their age begins again. A host that is running takes them up within a few seconds. */
  replay(seqs: readonly number[]): Promise<number> {
    return this.#database.transact((sql) => seqs.filter((seq) => sql.replay.run(this.#now(), seq).changes === 1).length);
  }

  drop(seqs: readonly number[]): Promise<number> {
    return this.#database.transact((sql) => seqs.filter((seq) => sql.drop.run(seq).changes === 1).length);
  }

  report(): Promise<OutboxStats> {
    return this.#database.do((sql) => {
      const { waiting, dead, bytes } = sql.report.get() as { waiting: number; dead: number; bytes: number };
      return { waiting, dead, bytes, limitBytes: Math.floor(this.#quotaBytes) };
    });
  }

  /** What is left is free for other hosts. */
  async close(): Promise<void> {
    await this.#database
      .transact((sql) => {
        sql.leave.run(this.#lease.name);
        sql.left.run(this.#lease.name);
      })
      .catch(() => {});
    await this.#database.close();
    this.#lease.end();
  }

  /** For a command that only looks: nothing is held. */
  async closeIdle(): Promise<void> {
    await this.#database.close();
    this.#lease.end();
  }

  /** Half of what is free, without the room that SQLite's log may still take: with a full disk it cannot even delete. */
  #measureDisk(bytes: number): void {
    try {
      const { bavail, bsize } = statfsSync(this.#dir);
      const logBytes = statSync(`${outboxFile(this.#dir)}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      const room = bavail * bsize - Math.max(0, LIMITS.outbox.logBytes - logBytes);
      this.#quotaBytes = Math.min(this.#mostBytes, bytes + Math.max(0, room) / 2);
    } catch {
      // The next write says what is wrong with the folder.
    }
  }
}

/** A process of the same number may be another one by now: then the lease is not renewed any more. */
function isGone(holder: string, seen: number | null, nowMs: number): boolean {
  return isLeaseAlive(holder) === false || (seen !== null && nowMs - seen > 12 * LIMITS.outbox.lookMs);
}

/** Trusted side: the volumes of plugins, behind Node's `fs`. Each has one of its own, which nothing but its id leads to; it is opened when a cell that can read files is loaded. */
import { join } from "node:path";
import { setImmediate as breath } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { costOf } from "../../protocol/volume.ts";
import type { VolumeChange } from "../../protocol/volume.ts";
import { volumeChanges } from "../../protocol/volume-message.ts";
import type { Logger } from "../log.ts";
import type { Plugin } from "../plugin.ts";
import { storeName } from "../services/kv.ts";
import { demand } from "../services/service.ts";
import type { ServiceGroup } from "../services/service.ts";
import { checked } from "../services/session.ts";
import { wordsFor } from "../store/database.ts";
import { Turns } from "../store/turns.ts";
import { Volume } from "./volume.ts";

const NOT_ITS_FAULT: ReadonlySet<string> = new Set<ErrorCode>(["ERR_STORE_FAILED", "ERR_HOST_CLOSED"]);

export interface VolumesOptions {
  /** Undefined: in memory, as long as the host is open. */
  readonly stateDir: string | undefined;
  readonly logger: Logger;
  /** The cell's copy is not one any more. */
  refused(plugin: Plugin, cell: number, why: string): void;
}

export interface VolumeReport {
  readonly maxBytes: number;
  /** False: there is no stateDir, and its files are gone with the process. */
  readonly isPersistent: boolean;
  /** Undefined: no cell of its was loaded that can read them. */
  readonly bytes: number | undefined;
  readonly files: number | undefined;
}

interface Kept {
  readonly volume: Volume;
  readonly turns: Turns;
  /** What is under way. */
  last: Promise<void> | undefined;
  startedMs: number;
  spentBytes: number;
}

export class Volumes {
  readonly #options: VolumesOptions;
  readonly #kept = new Map<string, Kept>();
  #isClosed = false;

  constructor(options: VolumesOptions) {
    this.#options = options;
  }

  /** What a cell is to be loaded with, as it stands after all that came before. Rejects with a CreelError. */
  async contents(plugin: Plugin): Promise<string> {
    demand(plugin.grants.fs !== undefined, plugin, "fs", "fs: true");
    // A SentVolume. Its files are JSON already: there may be megabytes of it.
    return this.#next(plugin, ({ volume }) => `{"maxBytes":${maxBytesOf(plugin)},"files":[${volume.contents().join(",")}]}`);
  }

  /** Resolves when they are written down. */
  async write(plugin: Plugin, cell: number, args: unknown): Promise<null> {
    demand(plugin.grants.fs !== undefined, plugin, "fs", "fs: true");
    if (hasLeft(plugin, cell)) {
      // It would write over what its successor writes, who cannot see it.
      this.#options.logger.warn({ plugin: plugin.id }, "files that a cell wrote after it was replaced were dropped");
      throw new CreelError("ERR_STORE_FAILED", { detail: "the plugin was moved to another cell meanwhile" });
    }
    try {
      const changes = checked(volumeChanges, args, "fs.write");
      await this.#next(plugin, (kept) => {
        charge(kept, changes);
        kept.volume.apply(changes);
      });
      return null;
    } catch (error) {
      // SECURITY: a cell that was refused goes on with what is true, not with what it made up. test/contract/fs.test.ts
      if (error instanceof CreelError && !NOT_ITS_FAULT.has(error.code)) this.#options.refused(plugin, cell, error.message);
      throw error;
    }
  }

  /** Resolves when all that was sent before is written down. */
  async sync(plugin: Plugin): Promise<null> {
    await this.#kept.get(plugin.id)?.last;
    return null;
  }

  /** Undefined: it was granted none. */
  report(plugin: Plugin): VolumeReport | undefined {
    if (plugin.grants.fs === undefined) return undefined;
    const use = this.#kept.get(plugin.id)?.volume.lastUse;
    return { maxBytes: maxBytesOf(plugin), isPersistent: this.#options.stateDir !== undefined, bytes: use?.bytes, files: use?.files };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const kept of this.#kept.values()) {
      await kept.last;
      kept.volume.close();
    }
  }

  /** One after the other; and if many come at once, with a pause for the gateway in between. */
  #next<T>(plugin: Plugin, work: (kept: Kept) => T): Promise<T> {
    const kept = this.#keep(plugin);
    const mine = this.#work(
      plugin,
      kept,
      kept.last?.then(() => breath()),
      work,
    );
    const settled: Promise<void> = mine.then(
      () => this.#done(kept, settled),
      () => this.#done(kept, settled),
    );
    kept.last = settled;
    return mine;
  }

  #done(kept: Kept, settled: Promise<void>): void {
    if (kept.last === settled) kept.last = undefined;
  }

  async #work<T>({ id }: Plugin, kept: Kept, before: Promise<void> | undefined, work: (kept: Kept) => T): Promise<T> {
    if (before) await before;
    try {
      return await kept.turns.run(() => work(kept));
    } catch (error) {
      if (error instanceof CreelError) throw error;
      this.#options.logger.error({ plugin: id, err: error }, "a plugin's volume failed");
      throw new CreelError("ERR_STORE_FAILED", { detail: wordsFor(error) });
    }
  }

  #keep(plugin: Plugin): Kept {
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    const known = this.#kept.get(plugin.id);
    if (known) return known;
    const { id } = plugin;
    const { stateDir, logger } = this.#options;
    const path = stateDir === undefined ? undefined : join(stateDir, "volumes", `${storeName(id)}.sqlite`);
    const volume = new Volume({
      path,
      maxBytes: maxBytesOf(plugin),
      onSetAside: (aside, detail) =>
        logger.error({ plugin: id, path, aside, detail }, "a plugin's volume was broken and was set aside; it starts with an empty one"),
    });
    const kept: Kept = { volume, turns: new Turns(), last: undefined, startedMs: performance.now(), spentBytes: 0 };
    this.#kept.set(id, kept);
    return kept;
  }
}

/** A version of a plugin lives in one cell, until another has taken its place. */
function hasLeft({ home, isRetired }: Plugin, cell: number): boolean {
  return isRetired || home?.cell !== cell;
}

function maxBytesOf({ grants: { fs } }: Plugin): number {
  return typeof fs === "object" ? fs.maxBytes : LIMITS.volumeBytes;
}

/** The cell counts, too, and begins anew when it is rebuilt: here it may have twice as much. */
function charge(kept: Kept, changes: readonly VolumeChange[]): void {
  const nowMs = performance.now();
  if (nowMs - kept.startedMs > LIMITS.volumeWindowMs) {
    kept.startedMs = nowMs;
    kept.spentBytes = 0;
  }
  for (const change of changes) kept.spentBytes += costOf(change[0] === "put" ? change[5].length : 0);
  if (kept.spentBytes > 2 * LIMITS.volumeWriteBytes)
    throw new CreelError("ERR_VOLUME_REFUSED", {
      detail: `it writes more than ${LIMITS.volumeWriteBytes} bytes in ${LIMITS.volumeWindowMs / 1000} s`,
    });
}

export function volumeServices(volumes: Volumes): ServiceGroup {
  return {
    services: {
      // The cell has acted already: what it tells is not refused because it has many other questions.
      "fs.write": { isOwed: true, answer: ({ plugin, cell, args }) => volumes.write(plugin, cell, args) },
      "fs.sync": { isOwed: true, answer: ({ plugin }) => volumes.sync(plugin) },
    },
    close: () => volumes.close(),
  };
}

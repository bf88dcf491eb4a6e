/**
 * Trusted side: the volumes of plugins, behind Node's `fs`. Each plugin has its own, which only its id leads to. It is
 * opened when a cell that can read files is loaded.
 */
import { setImmediate as breath } from "node:timers/promises";
import { CreelError } from "../../../protocol/errors.ts";
import type { ErrorCode } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { costOf } from "../../../protocol/messages/files.ts";
import { volumeChanges } from "../../../protocol/messages/files-requests.ts";
import { RateWindow } from "../../../protocol/rules/rate-window.ts";
import type { Logger } from "../../report/log.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import { checked, demand } from "../service.ts";
import type { ServiceGroup } from "../service.ts";
import type { Stores, VolumeStore } from "../../stores.ts";
import { wordsFor } from "../../storage/database.ts";
import { FailureLog } from "../../storage/failure-log.ts";
import { WriteQueue } from "../../storage/write-queue.ts";
import type { Slices } from "./volume.ts";

const NOT_ITS_FAULT: ReadonlySet<string> = new Set<ErrorCode>(["ERR_STORE_FAILED", "ERR_HOST_CLOSED"]);

export interface VolumesOptions {
  readonly stores: Pick<Stores, "volume" | "isPersistent">;
  readonly logger: Logger;
  /** The cell's copy has diverged. */
  refused(plugin: Plugin, cell: number, why: string): void;
}

export interface VolumeReport {
  readonly maxBytes: number;
  /** False: there is no stateDir, and the files are gone when the process ends. */
  readonly isPersistent: boolean;
  /** Undefined: no cell that can read files was loaded yet. */
  readonly bytes: number | undefined;
  readonly files: number | undefined;
}

interface Kept {
  readonly volume: VolumeStore;
  readonly queue: WriteQueue;
  readonly failures: FailureLog;
  /** The pending work. */
  last: Promise<void> | undefined;
  readonly writtenBytes: RateWindow;
}

export class Volumes {
  readonly #options: VolumesOptions;
  readonly #kept = new Map<string, Kept>();
  #isClosed = false;

  constructor(options: VolumesOptions) {
    this.#options = options;
  }

  /** What a cell is loaded with, after all earlier work. Rejects with a CreelError. */
  async contents(plugin: Plugin): Promise<string> {
    demand(plugin.grants.fs !== undefined, plugin, "fs", "fs: true");
    // A SentVolume. Its files are JSON already, possibly megabytes.
    return this.#next(plugin, async ({ volume, queue }) => {
      await queue.run(() => volume.use());
      const files = await inSlices(plugin, volume.contents());
      return `{"maxBytes":${maxBytesOf(plugin)},"files":[${files.join(",")}]}`;
    });
  }

  /**
   * Throws when the cell no longer belongs to the plugin: it would overwrite files of its successor, which cannot see
   * it.
   */
  arrives(plugin: Plugin, cell: number): void {
    if (!hasLeft(plugin, cell)) return;
    this.#options.logger.warn({ plugin: plugin.id }, "dropped files that a replaced cell wrote");
    throw new CreelError("ERR_STORE_FAILED", { detail: "the plugin has moved to another cell" });
  }

  /** Resolves when the changes are written. */
  async write(plugin: Plugin, cell: number, args: unknown): Promise<null> {
    demand(plugin.grants.fs !== undefined, plugin, "fs", "fs: true");
    try {
      const changes = checked(volumeChanges, args, "fs.write");
      await this.#next(plugin, async (kept) => {
        for (const change of changes) charge(kept, costOf(change[0] === "put" ? change[5].length : 0));
        await kept.queue.run(() => kept.volume.begin());
        await inSlices(
          plugin,
          kept.volume.apply(changes, (rows) => charge(kept, rows * LIMITS.files.rowBytes)),
        );
      });
      return null;
    } catch (error) {
      // SECURITY: a refused cell is rebuilt with the authoritative copy instead of its own. test/contract/fs.test.ts
      if (error instanceof CreelError && !NOT_ITS_FAULT.has(error.code)) this.#options.refused(plugin, cell, error.message);
      throw error;
    }
  }

  /** Resolves when all earlier changes are written. */
  async sync(plugin: Plugin): Promise<null> {
    await this.#kept.get(plugin.id)?.last;
    return null;
  }

  /** Undefined: the plugin was granted no volume. */
  report(plugin: Plugin): VolumeReport | undefined {
    if (plugin.grants.fs === undefined) return undefined;
    const use = this.#kept.get(plugin.id)?.volume.lastUse;
    return { maxBytes: maxBytesOf(plugin), isPersistent: this.#options.stores.isPersistent, bytes: use?.bytes, files: use?.files };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const kept of this.#kept.values()) {
      await kept.last;
      kept.volume.close();
    }
  }

  /** Queues the work. If much comes at once, pauses in between for the gateway. */
  #next<T>(plugin: Plugin, work: (kept: Kept) => Promise<T>): Promise<T> {
    const kept = this.#keep(plugin);
    const mine = this.#work(
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

  async #work<T>(kept: Kept, before: Promise<void> | undefined, work: (kept: Kept) => Promise<T>): Promise<T> {
    if (before) await before;
    try {
      return await work(kept);
    } catch (error) {
      if (error instanceof CreelError) throw error;
      kept.failures.failed(error);
      throw new CreelError("ERR_STORE_FAILED", { detail: wordsFor(error) });
    }
  }

  #keep(plugin: Plugin): Kept {
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    const known = this.#kept.get(plugin.id);
    if (known) return known;
    const { id } = plugin;
    const { stores, logger } = this.#options;
    const volume = stores.volume(id, maxBytesOf(plugin), (path) => ({
      onSetAside: (aside, detail) =>
        logger.error({ plugin: id, path, aside, detail }, "plugin volume was broken and was set aside; starting with an empty one"),
    }));
    const failures = new FailureLog((err, more) => logger.error({ plugin: id, err, ...more }, "plugin volume failed"));
    // The cell counts, too, but starts again when it is rebuilt: the host allows twice as much.
    const writtenBytes = new RateWindow(2 * LIMITS.files.writeBytes, LIMITS.files.windowMs);
    const kept: Kept = { volume, failures, queue: new WriteQueue(), last: undefined, writtenBytes };
    this.#kept.set(id, kept);
    return kept;
  }
}

/** Does the work in slices, and yields to the event loop after each. */
async function inSlices<T>({ gatewayTime }: Plugin, work: Slices<T>): Promise<T> {
  for (;;) {
    const untilMs = performance.now() + LIMITS.files.sliceMs;
    const step = gatewayTime.measure(() => {
      let next = work.next();
      while (next.done !== true && performance.now() < untilMs) next = work.next();
      return next;
    });
    if (step.done === true) return step.value;
    await breath();
  }
}

/** A version of a plugin lives in one cell until another replaces it. */
function hasLeft({ home, isRetired }: Plugin, cell: number): boolean {
  return isRetired || home?.cell !== cell;
}

function maxBytesOf({ grants: { fs } }: Plugin): number {
  return typeof fs === "object" ? fs.maxBytes : LIMITS.files.bytes;
}

function charge({ writtenBytes }: Kept, bytes: number): void {
  if (!writtenBytes.admit(bytes))
    throw new CreelError("ERR_VOLUME_REFUSED", {
      detail: `it writes more than ${LIMITS.files.writeBytes} bytes in ${LIMITS.files.windowMs / 1000} s`,
    });
}

export function volumeServices(volumes: Volumes): ServiceGroup {
  return {
    services: {
      // The cell has acted already, so its report must not be refused for the number of its pending requests.
      "fs.write": {
        isOwed: true,
        arrives: (plugin, cell) => volumes.arrives(plugin, cell),
        permit: (plugin) => demand(plugin.grants.fs !== undefined, plugin, "fs", "fs: true"),
        answer: ({ plugin, cell, args }) => volumes.write(plugin, cell, args),
      },
      "fs.sync": { isOwed: true, answer: ({ plugin }) => volumes.sync(plugin) },
    },
    close: () => volumes.close(),
  };
}

/**
 * Trusted side: keeps the state folder of a host equal to the fleet's lock. A change is checked, fetched, committed in one transaction of the
 * state folder, and then loaded. A host starts and runs from that folder, so it needs no server for what it has.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { readStored } from "../../state/store.ts";
import type { State } from "../../state/state.ts";
import type { Host } from "../../host/host-api.ts";
import { WENT_ON } from "../../host/plugins/reloads.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import type { Logger } from "../../host/report/log.ts";
import type { Bus } from "../bus.ts";
import type { Here, Index } from "../messages.ts";
import { readApplied, writeApplied } from "./applied.ts";
import { SharedLock } from "./shared-lock.ts";
import type { SharedEntry } from "./shared-lock.ts";

export interface StewardOptions {
  readonly bus: Bus;
  readonly state: State;
  readonly host: Pick<Host, "reload" | "plugins">;
  readonly operators: readonly string[];
  readonly logger: Logger;
  /** The host has changed, or refuses to. */
  readonly changed: () => void;
}

interface Wanted {
  readonly entry: SharedEntry;
  readonly files: ReadonlyMap<string, Buffer>;
}

export class Steward {
  readonly #options: StewardOptions;
  #looking: Promise<void> | undefined;
  #isAgain = false;
  /** The newest change that an operator has announced. */
  #announced = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  serial: number;
  #refused: Here["fault"];
  /** The fleet's plugins here. */
  #plugins: readonly string[];
  /** Those whose reload was rejected, and why. */
  readonly #rejected = new Map<string, string>();

  /** Throws if the state folder's own record cannot be read. */
  constructor(options: StewardOptions) {
    this.#options = options;
    const { serial, plugins } = readApplied(options.state.dir);
    this.serial = serial;
    this.#plugins = Object.keys(plugins);
  }

  /** The change that this host refuses, or the first plugin that did not load as the change says. */
  get fault(): Here["fault"] {
    if (this.#refused) return this.#refused;
    const reports = this.#plugins.length === 0 ? [] : this.#options.host.plugins();
    for (const id of this.#plugins) {
      const detail = this.#rejected.get(id) ?? loadFailure(reports.find((report) => report.id === id));
      if (detail === undefined) continue;
      const { code, message } = new CreelError("ERR_FLEET_LOAD", { plugin: id, detail });
      return { serial: this.serial, code, message };
    }
    return undefined;
  }

  /** Looks now, and once more if it is looking already. `announced`: until that change is there, for a moment. Never rejects. */
  look(announced = 0): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#announced = Math.max(this.#announced, announced);
    this.#isAgain = this.#looking !== undefined;
    this.#looking ??= this.#lookAll().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #lookAll(): Promise<void> {
    clearTimeout(this.#timer);
    do {
      this.#isAgain = false;
      await this.#lookOnce();
      const lastMs = performance.now() + LIMITS.fleet.behindMs;
      while (this.serial < this.#announced && !this.#refused && !this.#isAgain && !this.#isClosed && performance.now() < lastMs) {
        await sleep(LIMITS.fleet.behindEveryMs);
        await this.#lookOnce();
      }
    } while (this.#isAgain && !this.#isClosed);
    this.#announced = 0;
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.look(), LIMITS.fleet.lookMs).unref();
  }

  async #lookOnce(): Promise<void> {
    const { bus, operators, logger } = this.#options;
    let serial = 0;
    try {
      const lock = await SharedLock.open(bus, operators);
      const found = await this.#list(lock);
      if (!found) return;
      ({ serial } = found.index);
      await this.#apply(lock, found.index);
      this.#refuse(undefined);
    } catch (error) {
      if (isPassing(error)) return logger.debug({ err: error }, "the fleet's lock cannot be read now");
      const { code, message } =
        error instanceof CreelError ? error : new CreelError("ERR_FLEET_FAILED", { subject: "creel_lock", detail: String(error) });
      if (this.#refused?.message !== message) logger.error({ serial, code, detail: message }, "a change of the fleet's lock was refused");
      this.#refuse({ serial, code, message });
    }
  }

  /** The list that was read from a server that is behind may be older than what is applied: the newer one comes in a moment. */
  async #list(lock: SharedLock): ReturnType<SharedLock["list"]> {
    const lastMs = performance.now() + LIMITS.fleet.behindMs;
    for (;;) {
      const found = await lock.list();
      if (!found || found.index.serial >= this.serial || this.#isClosed || performance.now() > lastMs) return found;
      await sleep(LIMITS.fleet.behindEveryMs);
    }
  }

  #refuse(fault: Here["fault"]): void {
    if (fault?.message === this.#refused?.message && fault?.serial === this.#refused?.serial) return;
    this.#refused = fault;
    this.#options.changed();
  }

  async #apply(lock: SharedLock, { serial, plugins }: Index): Promise<void> {
    const { state, logger } = this.#options;
    const before = readApplied(state.dir);
    // SECURITY: an older list cannot come back, nor another one of the same number. test/fleet/control.test.ts
    if (serial < before.serial || (serial === before.serial && !isSame(plugins, before.plugins)))
      throw new CreelError("ERR_FLEET_ROLLBACK", { serial, applied: before.serial });
    if (serial === before.serial) return;
    const installed = await state.read();
    const wanted: Wanted[] = [];
    for (const [id, digest] of Object.entries(plugins)) {
      if (before.plugins[id] === digest && installed.has(id)) continue;
      const entry = await lock.entry(id, digest);
      const isHere = installed.get(id)?.store === entry.store;
      wanted.push({ entry, files: isHere ? await readStored(state.dir, entry.store, () => true) : await lock.files(id, entry.store) });
    }
    const gone = Object.keys(before.plugins).filter((id) => !Object.hasOwn(plugins, id) && installed.has(id));
    await state.transaction(
      async (tx) => {
        for (const { entry, files } of wanted) {
          const { bundle: _, store, grantsDigest: __, ...facts } = entry;
          const put = await tx.put(facts, files);
          if (put.store !== store)
            throw new CreelError("ERR_FLEET_BUNDLE", { plugin: entry.id, detail: "their bytes are not the signed ones" });
        }
        for (const id of gone) tx.remove(id);
      },
      { what: `change ${serial} of the fleet` },
    );
    writeApplied(state.dir, { serial, plugins });
    this.#plugins = Object.keys(plugins);
    await Promise.all([...wanted.map(({ entry: { id } }) => id), ...gone].map((id) => this.#reload(id)));
    this.serial = serial;
    logger.info({ serial, changed: wanted.map(({ entry: { id } }) => id), removed: gone }, "a change of the fleet's lock was applied");
    this.#options.changed();
  }

  /** A version that does not load leaves the old one in place; `fault` says so. */
  async #reload(id: string): Promise<void> {
    this.#rejected.delete(id);
    try {
      await this.#options.host.reload(id);
    } catch (error) {
      // It is gone, as it should be, or switched off.
      if (error instanceof CreelError && error.code === "ERR_PLUGIN_UNKNOWN") return;
      this.#rejected.set(id, error instanceof Error ? error.message : String(error));
      this.#options.logger.error({ plugin: id, err: error }, "a plugin of the fleet could not be loaded");
    }
  }
}

function loadFailure(report: PluginReport | undefined): string | undefined {
  const message = report?.error?.message;
  return report?.status === "failed" || message?.startsWith(WENT_ON) ? (message ?? "it failed") : undefined;
}

/** The server is away, or has no lock yet: look again later. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof CreelError && (error.code === "ERR_FLEET_AWAY" || error.code === "ERR_FLEET_LATE" || error.code === "ERR_FLEET_NOBODY")
  );
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

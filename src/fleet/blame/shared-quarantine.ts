/**
 * Trusted side: a plugin that one host has quarantined for good is in quarantine on all hosts that have the same code, until an operator releases it
 * everywhere. The servers keep both in one log, in one order, so that a host that was away comes to the same end. Where this host is in
 * that log, and what it has told, is in `fleet-quarantine.json` of the state folder.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { parseJson } from "../../text/parse-json.ts";
import { oneLine } from "../../text/one-line.ts";
import type { CoreHost } from "../../host/host.ts";
import type { Logger } from "../../host/report/log.ts";
import type { Bus } from "../bus.ts";
import { quarantineNews, read } from "../messages.ts";
import { LOGS, SUBJECTS, writerOf } from "../subjects.ts";

export interface SharedQuarantineOptions {
  readonly bus: Bus;
  readonly host: Pick<CoreHost, "quarantined" | "isolate" | "release" | "plugins">;
  readonly stateDir: string;
  readonly name: string;
  readonly logger: Logger;
}

const known = z.object({
  /** The last news that was read. */
  number: z.int().nonnegative(),
  /** By plugin: the bundle whose quarantine the log has. */
  told: z.record(z.string(), z.string()),
});
type Known = z.infer<typeof known>;

type News = { readonly by: string; readonly entry: NonNullable<z.infer<typeof quarantineNews>["entry"]> } | "released";

export class SharedQuarantine {
  readonly #options: SharedQuarantineOptions;
  readonly #file: string;
  #known: Known;
  #looking: Promise<void> | undefined;
  #isAgain = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #failed: string | undefined;

  constructor(options: SharedQuarantineOptions) {
    this.#options = options;
    this.#file = join(options.stateDir, "fleet-quarantine.json");
    this.#known = readKnown(this.#file);
  }

  /** Looks now, and once more if it is looking already. Never rejects. */
  look(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
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
    const { bus, logger } = this.#options;
    try {
      do {
        this.#isAgain = false;
        if (!bus.isConnected) break;
        // What this host has found while it was away counts more than a release that did not know of it.
        await this.#tell();
        await this.#hear();
      } while (this.#isAgain && !this.#isClosed);
      this.#failed = undefined;
    } catch (error) {
      const { code, message } = error as CreelError;
      if (code !== "ERR_FLEET_AWAY" && this.#failed !== message)
        logger.warn({ err: error }, "quarantines cannot be shared with the fleet now");
      this.#failed = message;
    }
    // Sent or received again, if the servers were away or a message was lost.
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.look(), LIMITS.fleet.lookMs).unref();
  }

  async #tell(): Promise<void> {
    const { bus, host, name } = this.#options;
    const own = host.quarantined();
    const told = Object.fromEntries(Object.entries(this.#known.told).filter(([plugin, bundle]) => own.get(plugin)?.bundle === bundle));
    if (Object.keys(told).length !== Object.keys(this.#known.told).length) this.#write({ ...this.#known, told });
    for (const [plugin, entry] of own) {
      if (this.#known.told[plugin] === entry.bundle) continue;
      const id = `${name} ${plugin} ${entry.bundle} ${entry.since}`;
      await bus.log(LOGS.quarantine).append(SUBJECTS.quarantine(name), JSON.stringify({ plugin, entry }), id);
      this.#write({ ...this.#known, told: { ...this.#known.told, [plugin]: entry.bundle } });
    }
  }

  async #hear(): Promise<void> {
    const { bus, host, logger, name } = this.#options;
    const log = bus.log(LOGS.quarantine);
    const last = new Map<string, News>();
    let { number } = this.#known;
    for (;;) {
      const found = await log.next(number);
      if (!found) break;
      ({ number } = found);
      const news = read(quarantineNews, found.text, bus.server.maxPayload);
      if (!news) continue;
      // SECURITY: the server lets only operators release, and each host speak for itself. test/fleet/quarantine.test.ts
      const by = writerOf(found.subject, "quarantine");
      if (found.subject === SUBJECTS.release) last.set(news.plugin, "released");
      else if (by !== undefined && news.entry?.state === "quarantined") last.set(news.plugin, { by, entry: news.entry });
    }
    for (const [plugin, news] of last) {
      if (news === "released") {
        await this.#release(plugin);
        continue;
      }
      const { by, entry } = news;
      if (by === name) continue;
      const why = oneLine(`host ${by} of the fleet quarantined it: ${entry.why}`, LIMITS.call.errorMessageChars);
      // Noted first: what was received is not sent again.
      this.#write({ ...this.#known, told: { ...this.#known.told, [plugin]: entry.bundle } });
      if (host.isolate(plugin, { ...entry, why }))
        logger.warn({ plugin, by, why: entry.why }, "a plugin is in quarantine on all hosts of the fleet");
    }
    if (number !== this.#known.number) this.#write({ ...this.#known, number });
  }

  async #release(plugin: string): Promise<void> {
    const { host } = this.#options;
    if (!host.plugins().some(({ id }) => id === plugin)) return;
    const { [plugin]: _, ...told } = this.#known.told;
    this.#write({ ...this.#known, told });
    await host.release(plugin);
  }

  #write(value: Known): void {
    mkdirSync(this.#options.stateDir, { recursive: true, mode: 0o700 });
    const temporary = `${this.#file}.${process.pid}.tmp`;
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
    renameSync(temporary, this.#file);
    this.#known = value;
  }
}

/** One that cannot be read begins anew: all that the log has is read again, in its order. */
function readKnown(file: string): Known {
  try {
    const parsed = parseJson(known, readFileSync(file, "utf8"));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return { number: 0, told: {} };
}

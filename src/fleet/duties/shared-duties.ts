/**
 * Trusted side: what plugins do without being called, once in a fleet instead of once on each host. A host claims each time of a cron before it
 * runs it; the services of a plugin run where its lease is. Both are entries that are replaced by compare-and-swap, so the server puts hosts in
 * one order: of two that claim, one is told that it was late, also one that was stopped for a minute and goes on. No clock is compared.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { CreelError } from "../../protocol/errors.ts";
import type { Claimed, Occurrence, SharedDuties } from "../../host/duties.ts";
import type { Logger } from "../../host/report/log.ts";
import type { Bucket, Bus } from "../bus.ts";
import { claimed, read } from "../messages.ts";
import { BUCKETS } from "../subjects.ts";
import { Lease } from "./lease.ts";

export interface FleetDutiesOptions {
  readonly bus: Bus;
  readonly name: string;
  /** Of this process: a host that was started again does not hold what its last life held. */
  readonly run: string;
  readonly logger: Logger;
}

/** A host that reads from a server that lags is told so by its write, and reads again. */
const TRIES = 5;
const PAUSE_MS = 50;

export class FleetDuties implements SharedDuties {
  readonly #options: FleetDutiesOptions;
  readonly #leases = new Map<string, Lease>();
  #bucket: Promise<Bucket | undefined> | undefined;
  #isTold = false;
  #isClosed = false;

  constructor(options: FleetDutiesOptions) {
    this.#options = options;
  }

  async claim(occurrence: Occurrence): Promise<Claimed> {
    try {
      const bucket = await this.#open();
      return bucket === undefined ? "mine" : await this.#claimIn(bucket, occurrence);
    } catch (error) {
      this.#options.logger.debug({ err: error }, "a cron waits: the fleet's server does not say who runs it");
      return "unknown";
    }
  }

  serve(plugin: string, assigned: (isMine: boolean) => void): () => void {
    const { name, run } = this.#options;
    if (this.#isClosed) return () => {};
    let lease = this.#leases.get(plugin);
    if (!lease) {
      const left = (): void => {
        this.#leases.delete(plugin);
      };
      lease = new Lease({ bucket: () => this.#open(), key: `service.${digest(plugin)}`, holder: `${name}/${run}`, left });
      this.#leases.set(plugin, lease);
    }
    return lease.serve(assigned);
  }

  /** Other hosts need not wait until its leases have run out. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#leases.values()].map((lease) => lease.close()));
  }

  async #claimIn(bucket: Bucket, { plugin, id, pattern, timezone, due }: Occurrence): Promise<Claimed> {
    const { name } = this.#options;
    // Another pattern is another cron: its next time may be before that of the old one.
    const key = `cron.${digest(JSON.stringify([plugin, id, pattern, timezone]))}`;
    for (let tries = 0; tries < TRIES; tries++) {
      const found = await bucket.get(key);
      const last = found && read(claimed, Buffer.from(found.bytes).toString());
      // Begun here before: what became of it, this host's own store knows.
      if (last?.due === due && last.host === name) return "mine";
      if (last && last.due >= due) return "taken";
      const mine = Buffer.from(JSON.stringify({ host: name, due }));
      if ((await bucket.put(key, mine, found?.revision ?? 0)) !== undefined) return "mine";
      await sleep(PAUSE_MS);
    }
    return "unknown";
  }

  /** Undefined: this fleet has no place for claims yet, so each host works as it does alone. */
  #open(): Promise<Bucket | undefined> {
    this.#bucket ??= this.#find();
    return this.#bucket;
  }

  async #find(): Promise<Bucket | undefined> {
    const { bus, logger } = this.#options;
    try {
      const bucket = await bus.bucket(BUCKETS.duties);
      // A read of a bucket that does not exist looks like a server that is away; this does not.
      await bucket.replicas();
      return bucket;
    } catch (error) {
      this.#bucket = undefined;
      if (!isMissing(error as CreelError)) throw error;
      if (!this.#isTold)
        logger.warn(
          { err: error },
          'crons and services of plugins run on every host: run "creel fleet push", with rights of "creel fleet keys"',
        );
      this.#isTold = true;
      return undefined;
    }
  }
}

/** No operator has made it, or the account is of an earlier version. Not: the servers are away, or choose a leader. */
function isMissing({ code, params }: CreelError): boolean {
  return code === "ERR_FLEET_FORBIDDEN" || (code === "ERR_FLEET_FAILED" && /not found/.test(String(params?.detail)));
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

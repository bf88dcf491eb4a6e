/**
 * Trusted side: ships a host's audit log to the servers of the fleet, part by part, each with the next number. The log on this machine comes
 * first: while the servers are away it only grows, and what its size limit deletes meanwhile is named in the next part.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Logger } from "../../host/report/log.ts";
import type { Bus } from "../bus.ts";
import type { AuditPart, Here } from "../messages.ts";
import { LOGS, SUBJECTS } from "../subjects.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import type { Cursor, Part } from "./cursor.ts";
import { linesOf, nextPart } from "./parts.ts";

/** Room for the first line of a message. */
const HEADER_BYTES = 4_096;

export class Shipper {
  readonly #bus: Bus;
  readonly #stateDir: string;
  readonly #name: string;
  readonly #logger: Logger;
  readonly #closed = new AbortController();
  #cursor: Cursor;
  #why: string | undefined;
  #shipping: Promise<void> = Promise.resolve();

  /** Throws if the cursor cannot be read. */
  constructor(bus: Bus, stateDir: string, name: string, logger: Logger) {
    this.#bus = bus;
    this.#stateDir = stateDir;
    this.#name = name;
    this.#logger = logger;
    this.#cursor = readCursor(stateDir);
  }

  /** What the host says of it. */
  get state(): NonNullable<Here["audit"]> {
    const { log, next } = this.#cursor;
    return { log, next, ...(this.#why !== undefined && { why: this.#why }) };
  }

  open(): void {
    this.#shipping = this.#ship();
  }

  /** What is left is shipped by the host's next life. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#shipping;
  }

  /** Never rejects. */
  async #ship(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      try {
        while (!signal.aborted && this.#bus.isConnected && (await this.#step()));
        this.#why = undefined;
      } catch (error) {
        const { code, message } = error as CreelError;
        // Known by its presence, and no news of this log.
        if (code !== "ERR_FLEET_AWAY" && this.#why !== message)
          this.#logger.warn({ err: error }, "the audit log cannot be shipped now; it is kept here");
        this.#why = message;
      }
      await sleep(LIMITS.fleet.shipMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** False: all of it is shipped. */
  async #step(): Promise<boolean> {
    const pending = this.#cursor.pending ?? (await this.#nextPart());
    if (!pending) return false;
    // Before it is sent: see cursor.ts.
    if (!this.#cursor.pending) this.#write({ ...this.#cursor, pending });
    const lines = await linesOf(this.#stateDir, pending);
    const { log, next } = this.#cursor;
    const gone = { name: pending.name, ...(pending.from.last && { since: pending.from.last }), why: "its file was deleted on its way" };
    const gap = lines ? pending.gap : gone;
    const header: AuditPart = { v: 1, log, n: next, ...(gap && { gap }) };
    await this.#bus
      .log(LOGS.audit)
      .append(SUBJECTS.audit(this.#name), [JSON.stringify(header), ...(lines ?? [])].join("\n"), `${log}-${next}`);
    const { pending: _, ...rest } = this.#cursor;
    this.#write({ ...rest, next: next + 1, places: { ...rest.places, [pending.name]: pending.to } });
    return true;
  }

  async #nextPart(): Promise<Part | undefined> {
    const maxBytes = Math.min(LIMITS.fleet.shipBytes, this.#bus.server.maxPayload - HEADER_BYTES);
    const { runs, state } = this.#cursor.places;
    return (await nextPart(this.#stateDir, "runs", runs, maxBytes)) ?? (await nextPart(this.#stateDir, "state", state, maxBytes));
  }

  #write(cursor: Cursor): void {
    writeCursor(this.#stateDir, cursor);
    this.#cursor = cursor;
  }
}

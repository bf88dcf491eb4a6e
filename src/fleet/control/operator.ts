/**
 * Trusted side, an operator's command: who is in the fleet, what each host answers, and one consent for all of them. A host that does not answer
 * is named, and never waited for longer than the others.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { fromWire } from "../../protocol/serve.ts";
import type { EventFilter, ServeError, ServeMethod } from "../../protocol/serve.ts";
import { readStored } from "../../state/store.ts";
import type { State } from "../../state/state.ts";
import { AuditReader } from "../audit/reader.ts";
import type { Bus, BusServer } from "../bus.ts";
import { OperatorEvents } from "../events/operator-events.ts";
import { here, read } from "../messages.ts";
import type { Here } from "../messages.ts";
import { BUCKETS, LOGS, SUBJECTS } from "../subjects.ts";
import { readApplied, writeApplied } from "./applied.ts";
import { entryDigest, entryText, SharedLock } from "./shared-lock.ts";

export interface Seen extends Here {
  readonly host: string;
  /** When it came, by this machine's clock. */
  readonly heardAt: number;
}

export interface Answered {
  readonly host: string;
  readonly ok: unknown;
  readonly error: CreelError | undefined;
}

/** What was changed. */
export interface Pushed {
  readonly serial: number;
  /** Plugins whose entry or files on the server were not the signed ones, and are again. The list was not changed then. */
  readonly repaired: readonly string[];
}

/** How a host took a change. */
export interface Followed {
  readonly host: string;
  readonly serial: number;
  readonly isDone: boolean;
  readonly why: string | undefined;
}

export class Operator implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #hosts = new Map<string, Seen>();
  readonly #sinceMs = performance.now();
  #received: (() => void) | undefined;
  #off: () => void = () => {};

  private constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Knows the hosts that say so within a moment. */
  static async open(bus: Bus): Promise<Operator> {
    const operator = await Operator.listen(bus);
    await operator.present();
    return operator;
  }

  /** Does not wait for them: a change goes out first. */
  static async listen(bus: Bus): Promise<Operator> {
    const operator = new Operator(bus);
    operator.#off = await bus.subscribe(SUBJECTS.here("*"), ({ subject, text }) => {
      const said = read(here, text);
      // SECURITY: the server lets a host publish this subject for its own name alone. test/fleet/permissions.test.ts
      if (said) operator.#hosts.set(subject.split(".")[2]!, { ...said, host: subject.split(".")[2]!, heardAt: Date.now() });
      operator.#received?.();
    });
    bus.publish(SUBJECTS.who, "");
    return operator;
  }

  /** Every host that is there has said so by then. */
  async present(): Promise<void> {
    await sleep(Math.max(0, this.#sinceMs + LIMITS.fleet.hereMs + 100 - performance.now()));
  }

  hosts(): Seen[] {
    return [...this.#hosts.values()].toSorted((a, b) => (a.host < b.host ? -1 : 1));
  }

  /** Asks all hosts, each answer on its own. */
  ask(method: ServeMethod, params?: object): Promise<Answered[]> {
    return Promise.all(
      this.hosts().map(async ({ host }) => {
        try {
          const text = await this.#bus.request(SUBJECTS.control(host), JSON.stringify({ method, params }), LIMITS.fleet.controlMs);
          const answer = JSON.parse(text) as { ok?: unknown; error?: ServeError };
          return { host, ok: answer.ok ?? undefined, error: answer.error && fromWire(answer.error) };
        } catch (error) {
          return {
            host,
            ok: undefined,
            error: error instanceof CreelError ? error : new CreelError("ERR_FLEET_FAILED", { subject: host, detail: String(error) }),
          };
        }
      }),
    );
  }

  /** Follows the facts of all hosts until the signal. */
  async follow(filter: EventFilter, signal: AbortSignal, told: (host: string, fact: string, event: unknown) => void): Promise<void> {
    const off = await this.#bus.subscribe(SUBJECTS.fact("*", "*"), ({ subject, text }) => {
      const [, , host, fact] = subject.split(".");
      told(host!, fact!, JSON.parse(text));
    });
    while (!signal.aborted) {
      await this.ask("subscribe", filter);
      await sleep(LIMITS.fleet.watchMs / 2, undefined, { signal }).catch(() => {});
    }
    off();
  }

  /** Makes the fleet's lock equal to that of the operator's state folder. Undefined: it is already. */
  async push(state: State, operators: readonly string[], pem: string, by: string, replicas: number): Promise<Pushed | undefined> {
    const lock = await SharedLock.make(this.#bus, operators, replicas);
    const before = await lock.list();
    const known = readApplied(state.dir);
    // Another operator has changed it since: this state folder does not have their change.
    if (before && before.index.serial !== known.serial)
      throw new CreelError("ERR_FLEET_BEHIND", { serial: before.index.serial, applied: known.serial });
    const entries = [...(await state.read()).values()];
    const plugins = Object.fromEntries(entries.map((entry) => [entry.id, entryDigest(entryText(entry))]));
    const isSame =
      before &&
      Object.keys(before.index.plugins).length === entries.length &&
      entries.every(({ id }) => before.index.plugins[id] === plugins[id]);
    const shared = entries.map((entry) => ({ entry, files: () => readStored(state.dir, entry.store, () => true) }));
    const repaired = isSame ? await lock.repair(shared) : [];
    if (isSame && repaired.length === 0) return undefined;
    const serial = isSame ? before.index.serial : await lock.publish(shared, before, by, pem);
    writeApplied(state.dir, { serial, plugins });
    this.#bus.publish(SUBJECTS.changed, JSON.stringify({ serial }));
    return { serial, repaired };
  }

  /** For a new fleet: the log that hosts ship theirs to. */
  makeAudit(replicas: number, days: number): Promise<void> {
    return this.#bus.makeLog(LOGS.audit, [SUBJECTS.audit("*")], replicas, days);
  }

  /** The same for quarantines: each is as long in it as anybody could need it. */
  makeQuarantine(replicas: number): Promise<void> {
    return this.#bus.makeLog(LOGS.quarantine, [SUBJECTS.quarantine("*"), SUBJECTS.release], replicas, LIMITS.fleet.quarantineDays);
  }

  /** Where hosts say who runs a cron or a service. */
  async makeDuties(replicas: number): Promise<void> {
    await this.#bus.makeBucket(BUCKETS.duties, replicas);
  }

  /** False: crons and services run on every host. */
  hasDuties(): Promise<boolean> {
    return this.#bus
      .bucket(BUCKETS.duties)
      .then((bucket) => bucket.replicas())
      .then(
        () => true,
        () => false,
      );
  }

  /** On all hosts, also those that are away now. */
  async release(plugin: string): Promise<Answered[]> {
    const kept = await this.#bus
      .log(LOGS.quarantine)
      .append(SUBJECTS.release, JSON.stringify({ plugin }), randomUUID())
      .then(
        () => undefined,
        (error: CreelError) => ({ host: "hosts that are away", ok: undefined, error }),
      );
    // Those that are there are asked in any case.
    const answers = await this.ask("release", { plugin });
    return kept ? [...answers, kept] : answers;
  }

  /** False: the server's accounts are of an earlier version, in which hosts read directly what hosts write. */
  hasNarrowReads(): Promise<boolean> {
    return this.#bus.request(`$JS.API.STREAM.MSG.GET.${LOGS.quarantine}`, JSON.stringify({ seq: 1 }), LIMITS.fleet.controlMs).then(
      () => true,
      (error: CreelError) => error.code !== "ERR_FLEET_FORBIDDEN",
    );
  }

  get events(): OperatorEvents {
    return new OperatorEvents(this.#bus);
  }

  audit(after: number): AuditReader {
    return new AuditReader(this.#bus.log(LOGS.audit), after);
  }

  /** On how many servers the lock is kept; undefined: there is none yet. */
  replicas(): Promise<number | undefined> {
    return this.#bus
      .bucket(BUCKETS.lock)
      .then((bucket) => bucket.replicas())
      .catch(() => undefined);
  }

  get server(): BusServer {
    return this.#bus.server;
  }

  /**
   * Waits until a host is there, and every one that is there, or is expected, has the change or refuses it. Says which has not followed.
   * `expected`: names of hosts that were there before.
   */
  async followed(serial: number, withinMs: number = LIMITS.fleet.controlMs, expected: readonly string[] = []): Promise<Followed[]> {
    const endMs = performance.now() + withinMs;
    // A host that is there has said so by then.
    const silentMs = Math.min(endMs, performance.now() + LIMITS.fleet.goneMs);
    const isSettled = ({ serial: has, fault }: Seen): boolean => has >= serial || fault?.serial === serial;
    const areAllHere = (): boolean => this.#hosts.size > 0 && expected.every((host) => this.#hosts.has(host));
    const until = async (isOver: () => boolean, lastMs: number): Promise<void> => {
      while (!isOver() && performance.now() < lastMs)
        await Promise.race([new Promise<void>((resolve) => (this.#received = resolve)), sleep(Math.max(1, lastMs - performance.now()))]);
    };
    await until(areAllHere, silentMs);
    await until(() => this.hosts().every(isSettled), endMs);
    const silent = expected.filter((host) => !this.#hosts.has(host));
    return [
      ...this.hosts().map(({ host, serial: has, fault }) => {
        const isDone = has >= serial && (fault === undefined || fault.serial < serial);
        return { host, serial: has, isDone, why: isDone ? undefined : (fault?.message ?? "it has not answered") };
      }),
      ...silent.map((host) => ({ host, serial: 0, isDone: false, why: "it is silent; it was there before" })),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#off();
    await this.#bus.close();
  }
}

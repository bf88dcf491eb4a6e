/**
 * Trusted side: a host as a member of a fleet. It says that it is there, follows the fleet's lock, and answers operators. The host itself works
 * as it does alone: if the server is away, nothing of it waits.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "../protocol/limits.ts";
import type { CreelConfig } from "../protocol/config/config.ts";
import type { CreelError } from "../protocol/errors.ts";
import { sorted } from "../state/lock.ts";
import type { State } from "../state/state.ts";
import type { Served } from "../serve/server.ts";
import type { Logger } from "../host/report/log.ts";
import type { Bus } from "./bus.ts";
import { Shipper } from "./audit/shipper.ts";
import { FleetEvents } from "./events/fleet-events.ts";
import { Control } from "./control/control.ts";
import { Steward } from "./control/steward.ts";
import { FleetDuties } from "./duties/shared-duties.ts";
import { SharedQuarantine } from "./blame/shared-quarantine.ts";
import { announcement, read } from "./messages.ts";
import type { Here } from "./messages.ts";
import { connectNats } from "./nats.ts";
import { Runs } from "./runs.ts";
import type { FleetSettings } from "./settings.ts";
import { SUBJECTS } from "./subjects.ts";

export interface MemberOptions {
  readonly settings: FleetSettings;
  readonly served: Pick<Served, "host" | "callbacks" | "duties" | "relay">;
  readonly state: State;
  readonly config: CreelConfig;
  readonly creel: string;
  readonly logger: Logger;
}

/** Failures that waiting does not mend: only a person does. */
const FINAL: ReadonlySet<string> = new Set(["ERR_FLEET_CLIENT", "ERR_FLEET_VERSION"]);

export class Member implements AsyncDisposable {
  readonly #options: MemberOptions;
  readonly #closed = new AbortController();
  readonly #digest: string;
  #joining: Promise<void> = Promise.resolve();
  #bus: Bus | undefined;
  #steward: Steward | undefined;
  #leave: (() => void)[] = [];
  #shared: SharedQuarantine | undefined;
  #shipper: Shipper | undefined;
  #duties: FleetDuties | undefined;
  #events: FleetEvents | undefined;
  #stopRuns: (() => Promise<void>) | undefined;
  /** How often what gateways know of the host has changed. */
  #state = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: MemberOptions) {
    this.#options = options;
    this.#digest = configDigest(options.config);
  }

  /** Resolves at once if no server answers: the host serves what it has, and joins when one does. Rejects if that will never be. */
  static async join(options: MemberOptions): Promise<Member> {
    const member = new Member(options);
    try {
      await member.#join();
    } catch (error) {
      if (FINAL.has((error as CreelError).code)) throw error;
      member.#joining = member.#joinLater(error as CreelError);
    }
    return member;
  }

  /** Tries until it has joined. A reason is logged when it is a new one, so that a server that refuses does not look like one that is away. */
  async #joinLater(failure: CreelError): Promise<void> {
    const { signal } = this.#closed;
    let told: CreelError | undefined;
    for (let error = failure; !signal.aborted;) {
      if (error.code !== told?.code) this.#notJoined(error);
      told = error;
      const pauseMs = error.code === "ERR_FLEET_CONNECT" ? LIMITS.fleet.connectMs : LIMITS.fleet.refusedMs;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      try {
        if (!signal.aborted) await this.#join();
        return;
      } catch (again) {
        error = again as CreelError;
      }
    }
  }

  #notJoined(error: CreelError): void {
    const { logger } = this.#options;
    if (error.code === "ERR_FLEET_CONNECT")
      logger.warn({ err: error }, "the fleet's server is away: the host goes on with the plugins that it has");
    else logger.error({ err: error }, "the host cannot join the fleet: it goes on with the plugins that it has, and tries again");
  }

  async #join(): Promise<void> {
    const { settings, served, state, logger } = this.#options;
    const { host, callbacks } = served;
    const bus = await connectNats(settings);
    if (this.#closed.signal.aborted) return bus.close();
    try {
      const say = (): void => this.#say();
      const steward = new Steward({ bus, state, host, operators: settings.operators, logger, changed: say });
      this.#bus = bus;
      this.#steward = steward;
      const shared = new SharedQuarantine({ bus, host, stateDir: state.dir, name: settings.name, logger });
      this.#shared = shared;
      this.#shipper = settings.auditDays === undefined ? undefined : new Shipper(bus, state.dir, settings.name, logger);
      const changed = (): void => {
        this.#state += 1;
        say();
      };
      this.#stopRuns = await this.#takeRuns(new Runs(bus, host, callbacks, settings.name));
      this.#leave = [
        await new Control(bus, host, settings.name).open(),
        await bus.subscribe(SUBJECTS.who, say),
        // It only says how long to look: the list is read and checked.
        await bus.subscribe(SUBJECTS.changed, ({ text }) => void steward.look(read(announcement, text)?.serial)),
        // What they say does not matter either.
        ...(await this.#hearQuarantines(bus, shared)),
        host.on("quarantine", () => void shared.look()),
        bus.onChange(
          (isConnected) =>
            isConnected &&
            void steward
              .look()
              .then(() => shared.look())
              .then(say),
        ),
        host.on("plugin", () => this.#events?.look()),
        ...(["plugin", "quarantine", "replaced", "moved", "restart", "approval"] as const).map((fact) => host.on(fact, changed)),
      ];
    } catch (error) {
      this.#bus = undefined;
      await bus.close();
      throw error;
    }
    this.#timer = setInterval(() => this.#say(), LIMITS.fleet.hereMs).unref();
    await this.#steward.look();
    await this.#shared.look();
    this.#shipper?.open();
    this.#duties = new FleetDuties({ bus, name: settings.name, run: host.id, logger });
    served.duties?.join(this.#duties);
    this.#events = served.relay && new FleetEvents({ bus, relay: served.relay, name: settings.name, logger });
    this.#events?.open();
    this.#say();
    logger.info({ name: settings.name, server: bus.server.name, version: bus.server.version }, "joined the fleet");
  }

  /** An account of an earlier version has no gateways: the host follows the fleet all the same. */
  async #takeRuns(runs: Runs): Promise<(() => Promise<void>) | undefined> {
    try {
      return await runs.open();
    } catch (error) {
      if ((error as CreelError).code !== "ERR_FLEET_FORBIDDEN") throw error;
      this.#options.logger.warn({ err: error }, "this host judges no gates of other machines: the server's accounts do not allow it");
      return undefined;
    }
  }

  /** An account of an earlier version has no quarantines: each host keeps its own. */
  async #hearQuarantines(bus: Bus, shared: SharedQuarantine): Promise<(() => void)[]> {
    const look = (): void => void shared.look();
    try {
      return [await bus.subscribe(SUBJECTS.quarantine("*"), look), await bus.subscribe(SUBJECTS.release, look)];
    } catch (error) {
      if ((error as CreelError).code !== "ERR_FLEET_FORBIDDEN") throw error;
      this.#options.logger.warn({ err: error }, "this host shares no quarantines: the server's accounts do not allow it");
      return [];
    }
  }

  #say(): void {
    if (!this.#bus?.isConnected || !this.#steward) return;
    const { served, creel, settings } = this.#options;
    const { host } = served;
    const plugins = host
      .plugins()
      .map(({ id, version, status, circuit }) => ({ id, ...(version !== undefined && { version }), status, circuit: circuit.state }));
    const { serial, fault } = this.#steward;
    const said: Here = {
      run: host.id,
      pid: process.pid,
      creel,
      serial,
      ...(fault && { fault }),
      state: this.#state,
      plugins,
      ...(this.#shipper && { audit: this.#shipper.state }),
      ...(this.#events && { events: this.#events.state }),
      config: this.#digest,
      at: Date.now(),
    };
    this.#bus.publish(SUBJECTS.here(settings.name), JSON.stringify(said));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    clearInterval(this.#timer);
    await this.#joining;
    await this.#stopRuns?.();
    for (const leave of this.#leave) leave();
    await this.#duties?.close();
    await this.#events?.close();
    await this.#shared?.close();
    await this.#shipper?.close();
    await this.#steward?.close();
    await this.#bus?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Of what should be the same on every host: not its name, its key and its paths. */
function configDigest(whole: CreelConfig): string {
  const { fleet: _, stateDir: __, lockKey: ___, secrets, ...config } = whole;
  const shared = { ...config, secrets: Object.keys(secrets ?? {}) };
  return createHash("sha256")
    .update(JSON.stringify(sorted(shared)))
    .digest("hex")
    .slice(0, 16);
}

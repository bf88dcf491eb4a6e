/**
 * Trusted side: the one Creel host of a gateway process, behind the shims of all sandboxed plugins. OpenClaw loads a shim several times
 * and disposes of it at every reload, so the host lives on `globalThis` under a versioned name. It opens when the first shim's service
 * starts, or at the first call, and closes when the last shim is gone.
 *
 * No promise in here may reject unhandled: OpenClaw ends the gateway for that.
 */
import { dirname } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import type { CreelConfig } from "../protocol/config/config.ts";
import type { Host } from "../host/host-api.ts";
import type { GatewayApi, GatewaySdk } from "./gateway-api.ts";
import { hostLogger } from "./host-logger.ts";
import type { RefusedTurns } from "./refused-turns.ts";
import { SessionLink } from "./session-link.ts";
import { registeredEntry } from "./settings.ts";
import type { ShimFacts } from "./shim-facts.ts";

const KEY = Symbol.for("creel.openclaw/1");

/** What one shim brings: who it is, how to reach the gateway, and the load that its last registration asked for. */
export interface Attachment {
  readonly facts: ShimFacts;
  readonly api: GatewayApi;
  readonly sdk: () => Promise<GatewaySdk>;
  readonly refused: RefusedTurns;
}

interface Live {
  attachment: Attachment;
  /** Settled when the host has the plugin with its current settings. */
  loaded: Promise<void> | undefined;
}

export class SharedHost {
  readonly #live = new Map<string, Live>();
  /** Instances that OpenClaw has disposed of: their handlers may still be called, and must not bring the plugin back. */
  readonly #gone = new WeakSet<Attachment>();
  /** Registrations in their order, and by plugin the last one when its live instance went: older ones must not bring it back, either. */
  readonly #numbers = new WeakMap<Attachment, number>();
  readonly #retired = new Map<string, number>();
  #registrations = 0;
  #host: Host | undefined;
  #opening: Promise<Host> | undefined;
  #config: CreelConfig = {};
  #sessions: SessionLink | undefined;

  /**
   * Throws when the host in this process has another state folder: it does not have the plugin, and one process opens one host. A shim of
   * another Creel is served by the Creel that came first, until the gateway is restarted.
   */
  admit(attachment: Attachment): void {
    const { id, stateDir, bridge } = attachment.facts;
    this.#numbers.set(attachment, (this.#registrations += 1));
    const first = [...this.#live.values()].find((one) => one.attachment.facts.id !== id);
    if (!first) return;
    const { facts } = first.attachment;
    if (facts.stateDir !== stateDir)
      throw new Error(
        `"${id}" was moved with the state folder ${stateDir}, and this gateway's sandbox has ${facts.stateDir}; move it again`,
      );
    if (facts.bridge !== bridge)
      attachment.api.logger.warn(`creel: ${id} was moved by ${bridge}; ${facts.bridge} serves it until the gateway is restarted`);
  }

  /** A full registration: from now on the plugin has these facts and settings. An open host loads it again. */
  attach(attachment: Attachment): void {
    const { id } = attachment.facts;
    const live: Live = { attachment, loaded: undefined };
    this.#live.set(id, live);
    if (this.#host) live.loaded = this.#load(this.#host, live);
  }

  /** The instance that registered is gone. A newer one of the same plugin is left alone. */
  async detach(attachment: Attachment): Promise<void> {
    const { id } = attachment.facts;
    this.#gone.add(attachment);
    if (this.#live.get(id)?.attachment !== attachment) return;
    this.#live.delete(id);
    this.#retired.set(id, this.#registrations);
    if (this.#live.size === 0) return this.#close();
    try {
      this.#host?.disable(id);
    } catch {
      // The host never had it.
    }
  }

  /** The open host with this plugin loaded, if that can be had; rejects otherwise. */
  async ready(attachment: Attachment): Promise<Host> {
    const { id } = attachment.facts;
    if (!this.#live.has(id)) {
      const isOld = (this.#numbers.get(attachment) ?? 0) <= (this.#retired.get(id) ?? -1);
      if (isOld || this.#gone.has(attachment)) throw new Error(`creel: "${id}" was unloaded`);
      this.attach(attachment);
    }
    const host = this.#host ?? (await this.open(attachment.api));
    const loaded = this.#live.get(id)?.loaded;
    if (loaded) await loaded;
    return host;
  }

  /** For hooks whose caller cannot await. Throws when the host is not open, or the plugin is not ready in it. */
  readyNow({ facts: { id } }: Attachment): Host {
    if (!this.#host || !this.#live.has(id)) throw new Error(`creel: the sandbox of "${id}" is not open`);
    if (this.#live.get(id)?.loaded) throw new Error(`creel: "${id}" is being loaded`);
    return this.#host;
  }

  open(api: GatewayApi): Promise<Host> {
    if (this.#opening) return this.#opening;
    const opening = this.#open(api).then(
      (host) => {
        // The last shim may be gone by now: then `#close` ends this host, and a later shim opens its own.
        if (this.#opening === opening) this.#host = host;
        return host;
      },
      (error: unknown) => {
        // The next call tries again.
        if (this.#opening === opening) this.#opening = undefined;
        throw error;
      },
    );
    this.#opening = opening;
    return opening;
  }

  /** The token of the cause of a patch that a plugin has just made, for the gateway's own `session:patch` event. */
  causeOf(event: Readonly<Record<string, unknown>>): string | undefined {
    return this.#sessions?.causeOf(event);
  }

  async #open(api: GatewayApi): Promise<Host> {
    const startedMs = performance.now();
    const [{ attachment }] = [...this.#live.values()] as [Live];
    const { stateDir, configFile } = attachment.facts;
    // Not before a host is wanted: OpenClaw loads shims one after the other, and for commands such as `plugins inspect`, too.
    const [{ readConfig }, { openHostWith }] = await Promise.all([import("../discovery/config-file.ts"), import("../sdk/open-host.ts")]);
    const { plugins, hooks, ...config } = await readConfig(configFile);
    this.#config = { ...config, plugins: { entries: plugins?.entries } };
    const live = [...this.#live];
    const entries = Object.fromEntries(live.map(([id, one]) => [id, registeredEntry(id, one.attachment.api, this.#config)]));
    const sessions = new SessionLink(api, attachment.sdk, () => this.#host?.causeToken());
    this.#sessions = sessions;
    const host = await openHostWith(
      {
        rewrites: "isolated",
        // A plugin that does not load keeps its own gates shut, not the gates of others.
        allowFailed: true,
        config: { ...config, hooks: { failure: hooks?.failure }, plugins: { load: { lazy: false }, entries } },
        logger: hostLogger(api.logger),
        gateway: {
          getSession: (key) => sessions.get(key),
          patchSession: (patch) => sessions.patch(patch),
          // In the plugin's own name, so that OpenClaw's rules for it apply.
          enqueueInjection: (injection, { plugin }) =>
            this.#live.get(plugin)?.attachment.api.session?.workflow?.enqueueNextTurnInjection?.(injection) ?? { enqueued: false },
          emitAgentEvent: (event, { plugin }) => void this.#live.get(plugin)?.attachment.api.agent?.events?.emitAgentEvent?.(event),
        },
      },
      {
        stateDir,
        installed: ({ id }) => this.#live.has(id),
        ...(configFile !== undefined && { base: dirname(configFile) }),
      },
    );
    api.logger.info(`creel: host ${host.id} open in ${Math.round(performance.now() - startedMs)} ms, pids ${host.pids().join(" ")}`);
    return host;
  }

  /** Never rejects: if the plugin does not load, its runs follow the failure policy of their hooks. */
  async #load(host: Host, live: Live): Promise<void> {
    const { facts, api } = live.attachment;
    try {
      await host.reload(facts.id, { entry: registeredEntry(facts.id, api, this.#config) });
    } catch (error) {
      const isClosed = error instanceof CreelError && error.code === "ERR_HOST_CLOSED";
      if (!isClosed) api.logger.error(`creel: ${facts.id} was not loaded: ${messageOf(error)}`);
    } finally {
      live.loaded = undefined;
    }
  }

  /** The singleton is free at once: a shim that comes back opens a new host. */
  async #close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    this.#host = undefined;
    this.#sessions?.close();
    try {
      const host = await opening;
      await host?.close();
    } catch {
      // It did not open.
    }
  }
}

/** All copies of this module in a process share one host. */
export function sharedHost(): SharedHost {
  const global = globalThis as { [KEY]?: SharedHost };
  return (global[KEY] ??= new SharedHost());
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

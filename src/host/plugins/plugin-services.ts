/**
 * Trusted side: the services of plugins (`api.registerService`). The host starts them once it is open and whenever their plugin has loaded,
 * and stops them before the plugin goes. It does not await a start: later messages to the plugin arrive after it anyway. A failure is a
 * diagnostic of the plugin.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { FunctionOutcome } from "../../protocol/messages/functions.ts";
import type { Duties } from "../duties.ts";
import type { Functions } from "../functions/functions.ts";
import type { Logger } from "../report/log.ts";
import type { Plugin } from "./plugin.ts";

export type ServiceStatus = "starting" | "running" | "failed" | "stopped";

export interface ServiceReport {
  readonly plugin: string;
  readonly id: string;
  readonly status: ServiceStatus;
  readonly error: string | undefined;
}

interface Running {
  status: ServiceStatus;
  error: string | undefined;
}

export class PluginServices {
  readonly #functions: Functions;
  readonly #logger: Logger;
  /** By plugin and service. Another load of the plugin replaces its entry; results of the earlier load are then ignored. */
  readonly #all = new Map<Plugin, Map<string, Running>>();
  readonly #duties: Duties | undefined;
  /** Of plugins with services, in a fleet: ends the wish to serve them. */
  readonly #wishes = new Map<Plugin, () => void>();
  #isOpen = false;

  constructor(functions: Functions, logger: Logger, duties?: Duties) {
    this.#functions = functions;
    this.#logger = logger;
    this.#duties = duties;
  }

  /** The host is open. */
  open(plugins: readonly Plugin[]): void {
    this.#isOpen = true;
    for (const plugin of plugins) if (plugin.status === "ready") this.loaded(plugin);
  }

  list(): ServiceReport[] {
    return this.#functions.list("service").map(({ plugin, name }) => {
      const entry = [...this.#all].find(([{ id }]) => id === plugin)?.[1].get(name);
      return { plugin, id: name, status: entry?.status ?? "stopped", error: entry?.error };
    });
  }

  /** A plugin has loaded, for the first time or again. */
  loaded(plugin: Plugin): void {
    this.#forget(plugin);
    if (!this.#isOpen) return;
    if (!this.#duties) this.#start(plugin);
    else if (this.#of(plugin).length > 0)
      this.#wishes.set(
        plugin,
        this.#duties.serve(plugin.id, (isMine) => (isMine ? this.#start(plugin) : void this.#halt(plugin))),
      );
  }

  #start(plugin: Plugin): void {
    const services = new Map<string, Running>();
    for (const id of this.#of(plugin)) {
      const service: Running = { status: "starting", error: undefined };
      services.set(id, service);
      plugin.diagnostics.delete(keyOf(id));
      void this.#call(plugin, id, "start").then((error) => {
        if (service.status !== "starting") return;
        service.status = error === undefined ? "running" : "failed";
        service.error = error;
        if (error !== undefined && this.#all.get(plugin) === services) this.#diagnose(plugin, id, `did not start: ${error}`);
      });
    }
    if (services.size > 0) this.#all.set(plugin, services);
  }

  /** Stops a plugin's services before it is unloaded. Undefined: it has none. Never rejects; takes at most LIMITS.plugin.serviceStopMs. */
  stop(plugin: Plugin): Promise<void> | undefined {
    this.#wishes.get(plugin)?.();
    this.#wishes.delete(plugin);
    return this.#halt(plugin);
  }

  #halt(plugin: Plugin): Promise<void> | undefined {
    const services = this.#all.get(plugin);
    this.#all.delete(plugin);
    if (!services || !this.#isOpen) return undefined;
    return this.#stopAll(plugin, services);
  }

  #forget(plugin: Plugin): void {
    this.#wishes.get(plugin)?.();
    this.#wishes.delete(plugin);
    this.#all.delete(plugin);
  }

  /** Its cell is gone, and its services with it. */
  lost(plugin: Plugin): void {
    this.#forget(plugin);
  }

  async close(): Promise<void> {
    for (const end of this.#wishes.values()) end();
    this.#wishes.clear();
    await Promise.all([...this.#all.keys()].map(async (plugin) => this.stop(plugin)));
    this.#isOpen = false;
  }

  async #stopAll(plugin: Plugin, services: ReadonlyMap<string, Running>): Promise<void> {
    const stopping = [...services].map(async ([id, service]) => {
      service.status = "stopped";
      const error = await this.#call(plugin, id, "stop");
      if (error !== undefined) this.#diagnose(plugin, id, `did not stop: ${error}`);
    });
    await Promise.all(stopping);
  }

  #of(plugin: Plugin): string[] {
    return this.#functions.of(plugin).flatMap(({ kind, name }) => (kind === "service" ? name : []));
  }

  async #call({ id }: Plugin, service: string, phase: "start" | "stop"): Promise<string | undefined> {
    const wallMs = phase === "stop" ? LIMITS.plugin.serviceStopMs : undefined;
    try {
      return failureOf(await this.#functions.call(id, "service", service, [phase], { wallMs }));
    } catch (error) {
      return (error as Error).message;
    }
  }

  #diagnose(plugin: Plugin, id: string, what: string): void {
    const diagnostic = `the service "${id}" ${what}`;
    plugin.diagnostics.set(keyOf(id), diagnostic);
    this.#logger.warn({ plugin: plugin.id, diagnostic }, "a service of a plugin failed");
  }
}

function keyOf(id: string): string {
  return `service ${id}`;
}

function failureOf({ status, error }: FunctionOutcome): string | undefined {
  return status === "ok" ? undefined : (error?.message ?? status);
}

/** Trusted side: the secrets that a host knows, to take them out of what it writes and shows. */
import type { HostEvents } from "../report/events.ts";
import type { Plugin } from "../plugins/plugin.ts";
import { redactionOf } from "../services/secrets/redact.ts";
import type { Redaction } from "../services/secrets/redact.ts";
import { Sanitiser, secretsOf } from "./sanitiser.ts";

export class KnownSecrets {
  readonly #configured: readonly Redaction[];
  readonly #find: (id: string) => Plugin | undefined;
  /** By value. Keeps secrets of replaced versions of a plugin, since what waits to be written or shown may contain them. */
  readonly #ofPlugins = new Map<string, Redaction>();
  #sanitiser: Sanitiser | undefined;

  constructor(configured: readonly Redaction[], events: HostEvents, find: (id: string) => Plugin | undefined) {
    this.#configured = configured;
    this.#find = find;
    events.on("plugin", ({ plugin }) => this.#learn(plugin));
  }

  sanitiser(): Sanitiser {
    return (this.#sanitiser ??= new Sanitiser([...this.#configured, ...this.#ofPlugins.values()]));
  }

  /** Collects the secrets of a loaded plugin. */
  #learn(id: string): void {
    const plugin = this.#find(id);
    for (const [value, name] of plugin ? secretsOf(plugin) : []) {
      if (this.#ofPlugins.has(value)) continue;
      this.#ofPlugins.set(value, redactionOf(name, value));
      this.#sanitiser = undefined;
    }
  }
}
